"""The engine without a model keeps every promise of the contract, and fails on command."""

import asyncio
from contextlib import aclosing

import pytest

from hitsend.engine import (
    Delayed,
    Finished,
    GaveWay,
    Generated,
    Generation,
    Prefilled,
    PromptWasRead,
    Script,
    ScriptedEngine,
)
from hitsend.errors import EngineDown, EngineLost, PromptTooLong, Refused, UnknownModel
from hitsend.messages import Begun, Message, Sampling, Source, Text, Tool, ToolCall, ToolResult

PLAIN = Sampling()


def user(text: str, source: Source = "user") -> Message:
    return Message("user", (Text(text),), source)


async def say(engine: ScriptedEngine, text: str, sampling: Sampling = PLAIN) -> list[Generation]:
    prompt = await engine.encode("auto", [user(text)])
    async with asyncio.timeout(5), aclosing(engine.generate(prompt, sampling)) as steps:
        return [step async for step in steps]


def text_of(steps: list[Generation]) -> str:
    return "".join(step.text for step in steps if isinstance(step, Generated))


async def test_an_answer_reads_the_prompt_speaks_and_finishes() -> None:
    first, *said, last = await say(ScriptedEngine(), "How are you today?")
    assert isinstance(first, PromptWasRead)
    assert isinstance(last, Finished)
    num_tokens = 0
    for step in said:
        assert isinstance(step, Generated)
        assert step.text == "".join(token.text for token in step.tokens)
        num_tokens += len(step.tokens)
    assert last.usage.num_output_tokens == num_tokens > 0


async def test_the_same_message_gets_the_same_answer_and_another_another() -> None:
    engine = ScriptedEngine()
    first = text_of(await say(engine, "Tell me about rivers"))
    assert text_of(await say(engine, "Tell me about rivers")) == first
    assert "rivers" in first
    assert text_of(await say(engine, "Tell me about mountains")) != first


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>\n\n`x`", "  spaces \n\n", "😀" * 40, "a\u2028b\x00c"]
)
async def test_what_follows_the_directive_is_said_word_for_word(text: str) -> None:
    assert text_of(await say(ScriptedEngine(), f"!script batch=3\n{text}")) == text


async def test_answers_given_beforehand_come_first_and_in_order() -> None:
    engine = ScriptedEngine([Script("one"), Script("two")])
    said = [text_of(await say(engine, "!script\nthree")) for _ in range(3)]
    assert said == ["one", "two", "three"]


async def test_tokens_says_so_many_and_batch_how_many_at_once() -> None:
    steps = await say(ScriptedEngine(), "!script tokens=10 batch=4\nround and round ")
    assert [len(s.tokens) for s in steps if isinstance(s, Generated)] == [4, 4, 2]


async def test_an_engine_that_is_down_says_nothing() -> None:
    with pytest.raises(EngineDown):
        await say(ScriptedEngine(), "!script error")


async def test_an_engine_that_dies_keeps_what_it_said() -> None:
    engine = ScriptedEngine()
    prompt = await engine.encode("auto", [user("!script tokens=9 die=3\na b c d")])
    steps = engine.generate(prompt, PLAIN)
    heard = [await anext(steps) for _ in range(4)]
    with pytest.raises(EngineLost):
        await anext(steps)
    assert text_of(heard) == "a b c"
    assert engine.status().num_busy_slots == 0


async def test_an_engine_that_hangs_waits_until_it_is_left() -> None:
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


async def test_first_and_pace_take_their_time() -> None:
    steps = await say(ScriptedEngine(), "!script first=30ms pace=10ms\na b c")
    first, *_, last = steps
    assert isinstance(first, PromptWasRead)
    assert isinstance(last, Finished)
    assert first.prefill_ms >= 30
    assert last.usage.decode_ms >= 30


@pytest.mark.parametrize("line", ["tokens=many", "pace=3", "pace=-1s", "error=3", "sing", "die="])
async def test_a_directive_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(Refused, match="script|wants"):
        await say(ScriptedEngine(), f"!script {line}")


async def test_max_tokens_and_stop_strings_hold() -> None:
    cut = await say(ScriptedEngine(), "!script\na b c d", Sampling(max_tokens=2))
    assert text_of(cut) == "a b"
    assert isinstance(cut[-1], Finished)
    assert cut[-1].reason == "length"
    stopped = await say(ScriptedEngine(), "!script\na b c d", Sampling(stop=("x", "c d", "b c")))
    assert text_of(stopped) == "a "
    assert isinstance(stopped[-1], Finished)
    assert stopped[-1].reason == "stop"


async def test_each_token_has_an_id_a_probability_and_alternatives_on_request() -> None:
    steps = await say(ScriptedEngine(), "!script\nmany words here", Sampling(top_logprobs=20))
    tokens = [token for step in steps if isinstance(step, Generated) for token in step.tokens]
    for token in tokens:
        assert token.logprob is not None
        assert len(token.top) == 20
        assert token.top[0].token_id == token.token_id
        assert [o.logprob for o in token.top] == sorted([o.logprob for o in token.top])[::-1]
    pieces = await ScriptedEngine().tokenize("auto", "many words here")
    assert tuple(token.token_id for token in tokens) == pieces.ids
    assert b"".join(pieces.pieces) == b"many words here"


async def test_spans_tell_where_each_token_came_from() -> None:
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


async def test_the_next_turn_finds_the_last_one_in_the_cache() -> None:
    engine = ScriptedEngine()
    first = [user("one two three")]
    await say(engine, "one two three")
    prompt = await engine.encode(
        "auto", [*first, Message("assistant", (Text("ok"),)), user("four")]
    )
    read = await anext(engine.generate(prompt, Sampling()))
    assert isinstance(read, PromptWasRead)
    assert read.num_cached_tokens == (await engine.encode("auto", first)).num_tokens
    assert read.num_cached_tokens + read.num_evaluated_tokens == prompt.num_tokens


async def test_a_prefilled_prompt_is_warm() -> None:
    engine = ScriptedEngine()
    prompt = await engine.encode("auto", [user("warm me")])
    await engine.prefill(prompt)
    read = await anext(engine.generate(prompt, Sampling()))
    assert isinstance(read, PromptWasRead)
    assert read.num_evaluated_tokens == 1


async def test_a_prompt_that_cannot_fit_is_refused() -> None:
    with pytest.raises(PromptTooLong):
        await say(ScriptedEngine(num_window_tokens=8), "too many words for so small a window")


async def test_another_model_is_unknown() -> None:
    with pytest.raises(UnknownModel, match="scripted"):
        await ScriptedEngine().resolve("gpt-17")


def begun(text: str) -> Message:
    return Message("assistant", (Text(text),), "answer")


@pytest.mark.parametrize("num_chars", [1, 4, 9, 15])
async def test_an_answer_that_was_begun_goes_on_from_its_last_letter(num_chars: int) -> None:
    engine, words = ScriptedEngine(), "One word, then another one."
    messages = [user(f"!script die=1\n{words}"), begun(words[:num_chars])]
    prompt = await engine.encode("auto", messages)
    assert prompt.spans[-1].source == "answer"
    assert sum(span.num_tokens for span in prompt.spans) == prompt.num_tokens == len(prompt.ids)
    async with aclosing(engine.generate(prompt, PLAIN)) as steps:
        assert text_of([step async for step in steps]) == words[num_chars:]


async def test_a_delay_is_told_before_the_prompt_is_read() -> None:
    steps = await say(ScriptedEngine(), "!script load=1ms queue=1 wait=1ms\nHi")
    assert steps[:3] == [Delayed("loading"), Delayed("queue", 1), Delayed("queue", 0)]
    assert isinstance(steps[3], PromptWasRead)


async def test_an_aside_is_a_title_unless_the_script_says_otherwise() -> None:
    engine = ScriptedEngine(asides=[Script("Boats")])
    prompt = await engine.encode("auto", [user("How do sailors navigate at night?")])
    assert await engine.aside(prompt, PLAIN) == "Boats"
    assert await engine.aside(prompt, PLAIN) == "Sailors navigate night"


async def test_asides_and_reading_ahead_give_way_to_a_person() -> None:
    engine = ScriptedEngine(asides=[Script(num_until_silence=0)], read_s=60)
    prompt = await engine.encode("auto", [user("Hi")])
    aside = asyncio.create_task(engine.aside(prompt, PLAIN))
    await asyncio.sleep(0)
    await say(engine, "!script\nHello")
    with pytest.raises(GaveWay):
        await aside
    reading = asyncio.create_task(engine.prefill(prompt))
    await asyncio.sleep(0)
    await say(engine, "!script\nHello")
    assert await reading == Prefilled()


async def test_an_answer_goes_on_from_the_tokens_it_was_written_in() -> None:
    answer = Begun("assistant", (Text("One word"),), "answer", (7, 8, 9))
    prompt = await ScriptedEngine().encode("auto", [user("Hi"), answer])
    assert prompt.ids[-3:] == (7, 8, 9)
