"""What fits is sent whole; what does not is left out from the oldest end, or refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine import ScriptedEngine
from hitsend.errors import PromptTooLong
from hitsend.messages import Message, Role, Sampling, Text
from hitsend.send import Send, Turn
from hitsend.steps.encode import encode_prompt

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


def said(num_words: int, role: str = "user") -> Message:
    return Message("user" if role == "user" else "assistant", (Text("word " * num_words),))


def asked(num_words: int) -> Message:
    return Message("user", (Text("word " * num_words),), "user")


def history(num_exchanges: int, num_words: int) -> tuple[Message, ...]:
    exchange = (said(num_words), said(num_words, "assistant"))
    return exchange * num_exchanges


async def test_what_fits_is_sent_whole() -> None:
    engine = ScriptedEngine(num_window_tokens=1000)
    prompt, event = await encode_prompt((SYSTEM, *history(2, 5), asked(3)), turn(), engine)
    assert event.num_dropped_messages == 0
    assert event.num_tokens == prompt.num_tokens == sum(span.num_tokens for span in event.spans)
    assert event.is_exact


async def test_the_oldest_exchanges_are_left_out_and_the_rest_fits_with_its_answer() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    context = (SYSTEM, *history(20, 20), asked(5))
    prompt, event = await encode_prompt(context, turn(max_tokens=50), engine)
    assert prompt.num_tokens + 50 <= 300
    assert 0 < event.num_dropped_messages < 40
    assert event.num_dropped_messages % 2 == 0
    assert prompt.spans[1].source == "system"
    assert prompt.spans[-1].source in ("user", "template")


async def test_no_more_is_left_out_than_needed() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    context = (SYSTEM, *history(20, 20), asked(5))
    kept, event = await encode_prompt(context, turn(max_tokens=50), engine)
    one_more = context[:1] + context[1 + event.num_dropped_messages - 2 :]
    larger = await engine.encode("scripted", one_more)
    assert larger.num_tokens + 50 > 300 >= kept.num_tokens + 50


async def test_a_message_that_does_not_fit_by_itself_is_refused_with_its_count() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    with pytest.raises(PromptTooLong, match=r"tokens.*reads 300"):
        await encode_prompt((SYSTEM, *history(3, 20), asked(600)), turn(), engine)


async def test_an_api_context_is_refused_and_never_trimmed() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    given = (SYSTEM, *history(20, 20), asked(5))
    with pytest.raises(PromptTooLong):
        await encode_prompt(given, turn(given=given), engine)


async def test_a_very_long_conversation_is_cut_before_it_is_encoded() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    long = Message("user", (Text("x" * 5000),))
    context = (SYSTEM, *(long, said(5, "assistant")) * 500, asked(5))
    prompt, event = await encode_prompt(context, turn(), engine)
    assert event.num_dropped_messages % 2 == 0
    assert prompt.num_tokens <= 300


async def test_what_is_far_too_long_is_refused_at_once() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    with pytest.raises(PromptTooLong, match="far longer than the 300 tokens"):
        await encode_prompt((SYSTEM, asked(10_000)), turn(), engine)


async def test_the_beginning_of_a_continued_answer_is_never_left_out() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    begun = Message("assistant", (Text("word " * 60),), "answer")
    context = (SYSTEM, *history(20, 20), asked(5), begun)
    prompt, event = await encode_prompt(context, turn(max_tokens=50), engine)
    assert event.num_dropped_messages % 2 == 0
    assert event.num_dropped_messages > 0
    said = [span.source for span in prompt.spans if span.source != "template"]
    assert said[-2:] == ["user", "answer"]
    assert prompt.messages[-2:] == context[-2:]


async def test_an_answer_that_leaves_no_room_to_go_on_is_refused() -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    begun = Message("assistant", (Text("word " * 280),), "answer")
    going_on = msgspec.structs.replace(turn(), send=Send(user_id="u", action="continue"))
    with pytest.raises(PromptTooLong, match="a new, shorter message"):
        await encode_prompt((SYSTEM, asked(5), begun), going_on, engine)


LENGTHS = st.lists(st.integers(0, 30_000), max_size=9)


@given(LENGTHS, st.booleans(), st.integers(1, 300))
async def test_instructions_and_the_message_are_kept_whatever_came_before(
    lengths: list[int], begins_with_an_answer: bool, max_tokens: int
) -> None:
    engine = ScriptedEngine(num_window_tokens=300)
    roles: list[Role] = ["assistant", "user"] if begins_with_an_answer else ["user", "assistant"]
    before = [
        Message(roles[index % 2], (Text("x" * num_chars),))
        for index, num_chars in enumerate(lengths)
    ]
    context = (SYSTEM, *before, asked(5))
    prompt, event = await encode_prompt(context, turn(max_tokens=max_tokens), engine)
    kept = prompt.messages
    assert (kept[0], kept[-1]) == (SYSTEM, context[-1])
    assert event.num_dropped_messages == len(context) - len(kept)
    assert kept[1:] == context[1 + event.num_dropped_messages :]
