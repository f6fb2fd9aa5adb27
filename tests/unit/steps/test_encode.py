"""What fits is sent whole; what does not is left out from the oldest end, or refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.context.window import WHOLE, Context, Cut, Kept
from hitsend.engine import Prompt, ScriptedEngine
from hitsend.errors import PromptTooLong
from hitsend.messages import Message, Sampling, Seen, Text
from hitsend.send import Send, Turn
from hitsend.steps.encode import cut_to_fit, encode_prompt, told

SYSTEM = Message("system", (Text("be kind"),), "system")


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


def exchange(number: int, num_words: int) -> Kept:
    asked = Message("user", (Text("word " * num_words),))
    answered = Message("assistant", (Text("word " * num_words),))
    return Kept((f"q{number}", f"a{number}"), (asked, answered))


def asked(num_words: int, *notes: Text) -> tuple[Message, ...]:
    return (Message("user", (*notes, Text("word " * num_words)), "user"),)


def context(num_exchanges: int, num_words: int, question: tuple[Message, ...]) -> Context:
    kept = tuple(exchange(number, num_words) for number in range(num_exchanges))
    return Context(asked=question, asked_id="now", system=(SYSTEM,), kept=kept, seen=Seen())


def narrower(whole: Context, cut: Cut) -> Context:
    """What a context comes to when it is gathered again with the cut."""
    ids = [kept.message_ids[0] for kept in whole.kept] + [whole.asked_id]
    start = ids.index(cut.starts_at) if cut.starts_at else 0
    parts = [
        part
        for part in whole.asked[0].parts
        if not (isinstance(part, Text) and part.source in cut.without)
    ]
    question = Message("user", tuple(parts), "user"), *whole.asked[1:]
    return msgspec.structs.replace(whole, kept=whole.kept[start:], asked=question, cut=cut)


async def fitted(whole: Context, turn: Turn, engine: ScriptedEngine) -> tuple[Context, Prompt]:
    cut: Cut | None = WHOLE
    while cut is not None:
        shown = narrower(whole, cut)
        prompt = await encode_prompt(shown, turn, engine)
        cut = cut_to_fit(shown, prompt, turn)
    return shown, prompt


async def test_what_fits_is_sent_whole() -> None:
    engine = ScriptedEngine(num_window_tokens=1000)
    shown, prompt = await fitted(context(2, 5, asked(3)), turn(), engine)
    built, event = told(shown, prompt)
    assert len(shown.kept) == 2
    assert event.num_tokens == prompt.num_tokens == sum(span.num_tokens for span in event.spans)
    assert event.is_exact
    assert [section.source for section in built.sections] == ["system", "history", "user"]


async def test_the_oldest_exchanges_are_left_out_and_half_of_the_room_is_free() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    shown, prompt = await fitted(context(20, 10, asked(5)), turn(max_tokens=50), engine)
    assert prompt.num_tokens <= 250
    assert 80 < prompt.num_tokens <= 160
    assert shown.kept[-1].message_ids == ("q19", "a19")
    assert prompt.messages[0] == SYSTEM


async def test_the_newest_exchange_stays_longer_than_what_may_have_to_do_with_it() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    notes = [Text("note " * 80 + "\n\n", "memory"), Text("note " * 80 + "\n\n", "recalled")]
    shown, prompt = await fitted(context(1, 70, asked(5, *notes)), turn(), engine)
    assert len(shown.kept) == 1
    assert {span.source for span in prompt.spans} >= {"history", "user", "memory"}
    assert "recalled" not in {span.source for span in prompt.spans}


async def test_what_gave_way_for_an_exchange_comes_back_when_that_goes_too() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    notes = [Text("note " * 30 + "\n\n", "memory"), Text("note " * 30 + "\n\n", "recalled")]
    shown, prompt = await fitted(context(1, 140, asked(5, *notes)), turn(), engine)
    assert not shown.kept
    assert {span.source for span in prompt.spans} >= {"memory", "recalled", "user"}


async def test_a_message_that_does_not_fit_by_itself_is_refused_with_its_count() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    with pytest.raises(PromptTooLong, match=r"has 601 tokens.*room for \d+.*reads 300"):
        await fitted(context(3, 20, asked(600)), turn(), engine)


async def test_an_api_context_is_refused_and_never_trimmed() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    given = context(20, 20, asked(5)).messages
    with pytest.raises(PromptTooLong, match="room for an answer"):
        await fitted(Context(asked=given), turn(given=given), engine)


async def test_what_is_far_too_long_is_refused_at_once() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    with pytest.raises(PromptTooLong, match="far longer than the 300 tokens"):
        await fitted(context(0, 0, asked(10_000)), turn(), engine)


async def test_the_beginning_of_a_continued_answer_is_never_left_out() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    begun = Message("assistant", (Text("word " * 60),), "answer")
    whole = context(20, 20, (*asked(5), begun))
    shown, prompt = await fitted(whole, turn(max_tokens=50), engine)
    assert 0 < len(shown.kept) < 20
    assert prompt.messages[-2:] == whole.asked


async def test_an_answer_that_leaves_no_room_to_go_on_is_refused() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    begun = Message("assistant", (Text("word " * 280),), "answer")
    going_on = msgspec.structs.replace(turn(), send=Send(user_id="u", action="continue"))
    with pytest.raises(PromptTooLong, match="a new, shorter message"):
        await fitted(context(0, 0, (*asked(5), begun)), going_on, engine)


@given(st.lists(st.integers(0, 400), max_size=12), st.integers(1, 300))
async def test_instructions_and_the_message_are_kept_whatever_came_before(
    lengths: list[int], max_tokens: int
) -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    kept = tuple(exchange(number, num_words) for number, num_words in enumerate(lengths))
    whole = msgspec.structs.replace(context(0, 0, asked(5)), kept=kept)
    shown, prompt = await fitted(whole, turn(max_tokens=max_tokens), engine)
    assert (prompt.messages[0], prompt.messages[-1]) == (SYSTEM, whole.asked[0])
    assert prompt.num_tokens + min(max_tokens, 75) <= 300
    assert shown.kept == kept[len(kept) - len(shown.kept) :]
