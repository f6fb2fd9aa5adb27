"""A context that fits is sent whole; else the oldest exchanges are dropped, or it is refused."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.context.recall import ExactSearch, Recall
from hitsend.context.window import NO_CUT, Context, Cut, ShownExchange
from hitsend.engine import Prompt, ScriptedEngine, WordHashes
from hitsend.engine.contract import CallGuide
from hitsend.errors import PromptTooLong
from hitsend.events import Section, Span
from hitsend.messages import FREE, AnswerRules, Message, Sampling, Seen, Text, Tool
from hitsend.send import Send, Turn
from hitsend.steps.encode import (
    context_built_event,
    cut_to_fit,
    encode_prompt,
    prompt_encoded_event,
)
from hitsend.store import Store
from hitsend.tools import Call, CallResult, HostedTool

SYSTEM = Message("system", (Text("be kind"),), "system")


class Meanings(WordHashes):
    """Stands for a model of meanings."""

    name = "meanings"


@pytest.fixture
async def store(tmp_path: Path, copy_database: Callable[[Path], Path]) -> AsyncIterator[Store]:
    store = await Store.open(copy_database(tmp_path / "data"))
    yield store
    await store.close()


def turn(
    *, given: tuple[Message, ...] = (), max_tokens: int = 10, num_window_tokens: int = 300
) -> Turn:
    return Turn(
        turn_id="t",
        conversation_id="c",
        answer_id="a",
        send=Send(user_id="u", text="hi", given=given),
        model="scripted",
        num_window_tokens=num_window_tokens,
        sampling=Sampling(max_tokens=max_tokens),
        created_at=1.0,
    )


def exchange(number: int, num_words: int) -> ShownExchange:
    asked = Message("user", (Text("word " * num_words),))
    answered = Message("assistant", (Text("word " * num_words),))
    return ShownExchange((f"q{number}", f"a{number}"), (asked, answered))


def build_question(num_words: int, *notes: Text) -> tuple[Message, ...]:
    return (Message("user", (*notes, Text("word " * num_words)), "user"),)


def context(num_exchanges: int, num_words: int, question: tuple[Message, ...]) -> Context:
    exchanges = tuple(exchange(number, num_words) for number in range(num_exchanges))
    return Context(
        question=question, question_id="now", system=(SYSTEM,), exchanges=exchanges, seen=Seen()
    )


def apply_cut(whole: Context, cut: Cut) -> Context:
    """Returns the context as it is when built again with the cut."""
    ids = [kept.message_ids[0] for kept in whole.exchanges] + [whole.question_id]
    start = ids.index(cut.starts_at) if cut.starts_at else 0
    parts = [
        part
        for part in whole.question[0].parts
        if not (isinstance(part, Text) and part.source in cut.without)
    ]
    question = Message("user", tuple(parts), "user"), *whole.question[1:]
    return msgspec.structs.replace(
        whole, exchanges=whole.exchanges[start:], question=question, cut=cut
    )


async def fit(whole: Context, turn: Turn, engine: ScriptedEngine) -> tuple[Context, Prompt]:
    cut: Cut | None = NO_CUT
    while cut is not None:
        shown = apply_cut(whole, cut)
        prompt = await encode_prompt(shown, turn, engine)
        cut = cut_to_fit(shown, prompt, turn)
    return shown, prompt


async def test_a_context_that_fits_is_sent_whole() -> None:
    engine = ScriptedEngine(num_window_tokens=1000)
    shown, prompt = await fit(context(2, 5, build_question(3)), turn(), engine)
    built, event = context_built_event(shown, prompt), prompt_encoded_event(shown, prompt)
    assert len(shown.exchanges) == 2
    assert event.num_tokens == prompt.num_tokens == sum(span.num_tokens for span in event.spans)
    assert event.is_exact
    assert [section.source for section in built.sections] == ["system", "history", "user"]


async def test_the_oldest_exchanges_are_dropped_until_half_of_the_room_is_free() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    shown, prompt = await fit(context(20, 10, build_question(5)), turn(max_tokens=50), engine)
    assert prompt.num_tokens <= 250
    assert 80 < prompt.num_tokens <= 160
    assert shown.exchanges[-1].message_ids == ("q19", "a19")
    assert prompt.messages[0] == SYSTEM


async def test_notes_are_dropped_before_the_newest_exchange() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    notes = [Text("note " * 80 + "\n\n", "memory"), Text("note " * 80 + "\n\n", "recalled")]
    shown, prompt = await fit(context(1, 70, build_question(5, *notes)), turn(), engine)
    assert len(shown.exchanges) == 1
    assert {span.source for span in prompt.spans} >= {"history", "user", "memory"}
    assert "recalled" not in {span.source for span in prompt.spans}


async def test_dropped_notes_return_when_the_last_exchange_is_dropped() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    notes = [Text("note " * 30 + "\n\n", "memory"), Text("note " * 30 + "\n\n", "recalled")]
    shown, prompt = await fit(context(1, 140, build_question(5, *notes)), turn(), engine)
    assert not shown.exchanges
    assert {span.source for span in prompt.spans} >= {"memory", "recalled", "user"}


async def test_a_message_that_does_not_fit_by_itself_is_refused_with_its_count() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    with pytest.raises(PromptTooLong, match=r"has 601 tokens.*room for \d+.*reads 300"):
        await fit(context(3, 20, build_question(600)), turn(), engine)


async def test_an_api_context_is_refused_and_never_trimmed() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    given = context(20, 20, build_question(5)).messages
    with pytest.raises(PromptTooLong, match="room for an answer"):
        await fit(Context(question=given), turn(given=given), engine)


async def test_a_far_too_long_context_is_refused_without_counting_tokens() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    with pytest.raises(PromptTooLong, match="far longer than the 300 tokens"):
        await fit(context(0, 0, build_question(10_000)), turn(), engine)


async def test_the_beginning_of_a_continued_answer_is_never_left_out() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    begun = Message("assistant", (Text("word " * 60),), "answer")
    whole = context(20, 20, (*build_question(5), begun))
    shown, prompt = await fit(whole, turn(max_tokens=50), engine)
    assert 0 < len(shown.exchanges) < 20
    assert prompt.messages[-2:] == whole.question


async def test_an_answer_that_leaves_no_room_to_go_on_is_refused() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    begun = Message("assistant", (Text("word " * 280),), "answer")
    going_on = msgspec.structs.replace(turn(), send=Send(user_id="u", action="continue"))
    with pytest.raises(PromptTooLong, match="a new, shorter message"):
        await fit(context(0, 0, (*build_question(5), begun)), going_on, engine)


@given(st.lists(st.integers(0, 400), max_size=12), st.integers(1, 300))
async def test_instructions_and_the_message_are_kept_whatever_came_before(
    lengths: list[int], max_tokens: int
) -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    exchanges = tuple(exchange(number, num_words) for number, num_words in enumerate(lengths))
    whole = msgspec.structs.replace(context(0, 0, build_question(5)), exchanges=exchanges)
    shown, prompt = await fit(whole, turn(max_tokens=max_tokens), engine)
    assert (prompt.messages[0], prompt.messages[-1]) == (SYSTEM, whole.question[0])
    assert prompt.num_tokens + min(max_tokens, 75) <= 300
    assert shown.exchanges == exchanges[len(exchanges) - len(shown.exchanges) :]


class GuidingEngine(ScriptedEngine):
    """Lists tools in its prompts, as the local engine does for small models."""

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        prompt = await super().encode(model, messages, tools, rules)
        guide = CallGuide(("hi",), "reply") if tools else None
        spans = (Span("tools", 0, 70), *prompt.spans)
        return msgspec.structs.replace(prompt, guide=guide, tools=tuple(tools), spans=spans)


async def run_nothing(call: Call, arguments: str) -> CallResult:
    return CallResult("done")


def hosted(name: str, description: str) -> HostedTool:
    return HostedTool(spec=Tool(name, description, "{}"), feature="f", run=run_nothing)


async def test_a_guide_knows_how_likely_each_tool_is(store: Store) -> None:
    recall = Recall(store, Meanings(), ExactSearch())
    tools = [hosted("set_timer", "Starts a timer."), hosted("get_weather", "Tells the weather.")]
    question = (Message("user", (Text("How is the weather?"),), "user"),)
    shown = context(0, 0, question)
    prompt = await encode_prompt(shown, turn(), GuidingEngine(), tools, recall)
    assert prompt.guide
    timer, weather, reply = prompt.guide.weights
    assert timer < reply < weather
    event = context_built_event(shown, prompt, tools)
    assert event.sections[0] == Section("tools", 2, 33, 70)


async def test_a_model_is_not_guided_past_a_tool_that_a_note_tells_it() -> None:
    tools = [hosted("calculate", "Works out."), hosted("remember", "")]
    shown = context(0, 0, build_question(3))
    prompt = await encode_prompt(shown, turn(), GuidingEngine(), tools)
    assert [tool.name for tool in prompt.tools] == ["calculate"]
    assert prompt.guide is None
