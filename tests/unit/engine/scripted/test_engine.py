"""The scripted engine fulfils the contract, and fails on command."""

import asyncio
from contextlib import aclosing

import pytest

from hitsend.engine import (
    Delayed,
    Finished,
    Generated,
    GenerationStep,
    Preempted,
    Prefilled,
    PrefillResult,
    Script,
    ScriptedEngine,
)
from hitsend.errors import EngineDown, EngineLost, PromptTooLong, Refused, UnknownModel
from hitsend.messages import (
    Message,
    PartialAnswer,
    Sampling,
    Source,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)

PLAIN = Sampling()


def user(text: str, source: Source = "user") -> Message:
    return Message("user", (Text(text),), source)


async def generate(
    engine: ScriptedEngine, text: str, sampling: Sampling = PLAIN
) -> list[GenerationStep]:
    prompt = await engine.encode("auto", [user(text)])
    async with asyncio.timeout(5), aclosing(engine.generate(prompt, sampling)) as steps:
        return [step async for step in steps]


def text_of(steps: list[GenerationStep]) -> str:
    return "".join(step.text for step in steps if isinstance(step, Generated))


async def test_a_generation_prefills_generates_and_finishes() -> None:
    first, *steps, last = await generate(ScriptedEngine(), "How are you today?")
    assert isinstance(first, Prefilled)
    assert isinstance(last, Finished)
    num_tokens = 0
    for step in steps:
        assert isinstance(step, Generated)
        assert step.text == "".join(token.text for token in step.tokens)
        num_tokens += len(step.tokens)
    assert last.usage.num_output_tokens == num_tokens > 0


async def test_the_same_message_gets_the_same_answer_and_another_message_another() -> None:
    engine = ScriptedEngine()
    first = text_of(await generate(engine, "Tell me about rivers"))
    assert text_of(await generate(engine, "Tell me about rivers")) == first
    assert "rivers" in first
    assert text_of(await generate(engine, "Tell me about mountains")) != first


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>\n\n`x`", "  spaces \n\n", "😀" * 40, "a\u2028b\x00c"]
)
async def test_the_text_after_the_directive_is_the_answer(text: str) -> None:
    assert text_of(await generate(ScriptedEngine(), f"!script batch=3\n{text}")) == text


async def test_given_answers_come_first_and_in_order() -> None:
    engine = ScriptedEngine([Script("one"), Script("two")])
    texts = [text_of(await generate(engine, "!script\nthree")) for _ in range(3)]
    assert texts == ["one", "two", "three"]


async def test_tokens_sets_the_length_and_batch_the_step_size() -> None:
    steps = await generate(ScriptedEngine(), "!script tokens=10 batch=4\nround and round ")
    assert [len(s.tokens) for s in steps if isinstance(s, Generated)] == [4, 4, 2]


async def test_the_error_directive_raises_engine_down() -> None:
    with pytest.raises(EngineDown):
        await generate(ScriptedEngine(), "!script error")


async def test_the_die_directive_raises_engine_lost_after_its_tokens() -> None:
    engine = ScriptedEngine()
    prompt = await engine.encode("auto", [user("!script tokens=9 die=3\na b c d")])
    steps = engine.generate(prompt, PLAIN)
    received = [await anext(steps) for _ in range(4)]
    with pytest.raises(EngineLost):
        await anext(steps)
    assert text_of(received) == "a b c"
    assert engine.status().num_busy_slots == 0


async def test_the_hang_directive_waits_until_the_generator_is_closed() -> None:
    engine = ScriptedEngine()
    prompt = await engine.encode("auto", [user("!script hang=1\na b")])
    steps = engine.generate(prompt, Sampling())
    await anext(steps)
    await anext(steps)
    waiting = asyncio.create_task(anext(steps))
    done, _ = await asyncio.wait([waiting], timeout=0.05)
    assert not done
    assert engine.status().num_busy_slots == 1
    waiting.cancel()
    await asyncio.wait([waiting])
    await steps.aclose()
    assert engine.status().num_busy_slots == 0


async def test_first_and_pace_set_the_timing() -> None:
    steps = await generate(ScriptedEngine(), "!script first=30ms pace=10ms\na b c")
    first, *_, last = steps
    assert isinstance(first, Prefilled)
    assert isinstance(last, Finished)
    assert first.prefill_ms >= 30
    assert last.usage.decode_ms >= 30


@pytest.mark.parametrize("line", ["tokens=many", "pace=3", "pace=-1s", "error=3", "sing", "die="])
async def test_a_bad_directive_is_refused(line: str) -> None:
    with pytest.raises(Refused, match="script|needs"):
        await generate(ScriptedEngine(), f"!script {line}")


async def test_max_tokens_and_stop_strings_end_an_answer() -> None:
    cut = await generate(ScriptedEngine(), "!script\na b c d", Sampling(max_tokens=2))
    assert text_of(cut) == "a b"
    assert isinstance(cut[-1], Finished)
    assert cut[-1].reason == "length"
    stopped = await generate(
        ScriptedEngine(), "!script\na b c d", Sampling(stop=("x", "c d", "b c"))
    )
    assert text_of(stopped) == "a "
    assert isinstance(stopped[-1], Finished)
    assert stopped[-1].reason == "stop"


async def test_each_token_has_an_id_a_probability_and_alternatives_on_request() -> None:
    steps = await generate(ScriptedEngine(), "!script\nmany words here", Sampling(top_logprobs=20))
    tokens = [token for step in steps if isinstance(step, Generated) for token in step.tokens]
    for token in tokens:
        assert token.logprob is not None
        assert len(token.top) == 20
        assert token.top[0].token_id == token.token_id
        assert [o.logprob for o in token.top] == sorted([o.logprob for o in token.top])[::-1]
    pieces = await ScriptedEngine().tokenize("auto", "many words here")
    assert tuple(token.token_id for token in tokens) == pieces.ids
    assert b"".join(pieces.pieces) == b"many words here"


async def test_spans_name_the_source_of_each_token() -> None:
    messages = [
        Message("system", (Text("Be brief."),), "system"),
        user("remembered", "memory"),
        Message("assistant", (ToolCall("c", "f", "{}"),), "history"),
        Message("tool", (ToolResult("c", "42"),), "tool"),
        user("hello <|assistant|>"),
    ]
    prompt = await ScriptedEngine().encode("auto", messages, [Tool("f", "does", "{}")])
    named = [(span.source, span.index) for span in prompt.spans if span.source != "template"]
    assert named == [
        ("tool", -1), ("system", 0), ("memory", 1), ("history", 2), ("tool", 3), ("user", 4),
    ]  # fmt: skip
    assert sum(span.num_tokens for span in prompt.spans) == len(prompt.ids) == prompt.num_tokens


async def test_the_next_turn_reuses_the_cached_prefix() -> None:
    engine = ScriptedEngine()
    first = [user("one two three")]
    await generate(engine, "one two three")
    prompt = await engine.encode(
        "auto", [*first, Message("assistant", (Text("ok"),)), user("four")]
    )
    read = await anext(engine.generate(prompt, Sampling()))
    assert isinstance(read, Prefilled)
    assert read.num_cached_tokens == (await engine.encode("auto", first)).num_tokens
    assert read.num_cached_tokens + read.num_evaluated_tokens == prompt.num_tokens


async def test_a_prefilled_prompt_is_cached() -> None:
    engine = ScriptedEngine()
    prompt = await engine.encode("auto", [user("cache me")])
    await engine.prefill(prompt)
    read = await anext(engine.generate(prompt, Sampling()))
    assert isinstance(read, Prefilled)
    assert read.num_evaluated_tokens == 1


async def test_a_prompt_that_cannot_fit_is_refused() -> None:
    with pytest.raises(PromptTooLong):
        await generate(ScriptedEngine(num_window_tokens=8), "too many words for so small a window")


async def test_another_model_is_unknown() -> None:
    with pytest.raises(UnknownModel, match="scripted"):
        await ScriptedEngine().resolve("gpt-17")


def partial(text: str) -> Message:
    return Message("assistant", (Text(text),), "answer")


@pytest.mark.parametrize("num_chars", [1, 4, 9, 15])
async def test_a_partial_answer_is_continued_from_its_last_character(num_chars: int) -> None:
    engine, words = ScriptedEngine(), "One word, then another one."
    messages = [user(f"!script die=1\n{words}"), partial(words[:num_chars])]
    prompt = await engine.encode("auto", messages)
    assert prompt.spans[-1].source == "answer"
    assert sum(span.num_tokens for span in prompt.spans) == prompt.num_tokens == len(prompt.ids)
    async with aclosing(engine.generate(prompt, PLAIN)) as steps:
        assert text_of([step async for step in steps]) == words[num_chars:]


async def test_delays_come_before_the_prefill() -> None:
    steps = await generate(ScriptedEngine(), "!script load=1ms queue=1 wait=1ms\nHi")
    assert steps[:3] == [Delayed("loading"), Delayed("queue", 1), Delayed("queue", 0)]
    assert isinstance(steps[3], Prefilled)


async def test_an_idle_answer_is_a_title_unless_a_script_is_given() -> None:
    engine = ScriptedEngine(idle_answers=[Script("Boats")])
    prompt = await engine.encode("auto", [user("How do sailors navigate at night?")])
    assert await engine.generate_when_idle(prompt, PLAIN) == "Boats"
    assert await engine.generate_when_idle(prompt, PLAIN) == "Sailors navigate night"


async def test_an_answer_preempts_idle_generation_and_prefill() -> None:
    engine = ScriptedEngine(idle_answers=[Script(num_until_silence=0)], read_s=60)
    prompt = await engine.encode("auto", [user("Hi")])
    idle = asyncio.create_task(engine.generate_when_idle(prompt, PLAIN))
    await asyncio.sleep(0)
    await generate(engine, "!script\nHello")
    with pytest.raises(Preempted):
        await idle
    reading = asyncio.create_task(engine.prefill(prompt))
    await asyncio.sleep(0)
    await generate(engine, "!script\nHello")
    assert await reading == PrefillResult()


async def test_a_partial_answer_keeps_the_ids_it_was_generated_with() -> None:
    answer = PartialAnswer("assistant", (Text("One word"),), "answer", token_ids=(7, 8, 9))
    prompt = await ScriptedEngine().encode("auto", [user("Hi"), answer])
    assert prompt.ids[-3:] == (7, 8, 9)
