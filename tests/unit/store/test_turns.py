"""Turns: accepted atomically, logged, and finished from their log."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import TypeAlias
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from hitsend.errors import Conflict, NotFound, Unauthenticated
from hitsend.events import (
    AnyEvent,
    Ending,
    MessageAdded,
    PromptRead,
    Stamped,
    TextArrived,
    TitleChosen,
    ToolCallArrived,
    TurnFailed,
    TurnFinished,
)
from hitsend.messages import Message, Text, Token, ToolCall
from hitsend.store import FinishedTurn, LogEntry, NewTurn, RunningAnswer, Store, User
from hitsend.transcript import EMPTY, fold

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]


async def read_log(store: Store, turn_id: str) -> list[Stamped]:
    return (await store.turns.logs([turn_id]))[turn_id]


async def test_an_accepted_turn_is_in_its_conversation(store: Store, ada: User, ask: Ask) -> None:
    turn = await ask(ada, "Hello?", title="Hello")
    conversation = await store.conversations.get(turn.conversation_id or "", ada.id)
    question, answer = conversation.messages
    assert (question.text, question.status, question.parent_id) == ("Hello?", "finished", None)
    assert (answer.text, answer.status) == ("", "in_progress")
    assert (answer.parent_id, answer.model) == (turn.message_id, "tiny")
    assert conversation.title == "Hello"
    assert conversation.current_node == turn.answer_id
    assert conversation.running == RunningAnswer(turn.turn_id, turn.answer_id)
    assert [left.id for left in await store.turns.list_running()] == [turn.turn_id]


async def test_a_finished_turn_is_stored_with_its_usage(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace
) -> None:
    turn = await ask(ada, "Hello?")
    log = await answer(turn, "Good morning to you.", title="Greetings")
    row = await store.turns.get(turn.turn_id, ada.id)
    assert (row.state, row.surface, row.finished_at) == ("stop", "chat", clock.now)
    assert (row.num_input_tokens, row.num_cached_tokens, row.num_output_tokens) == (7, 3, 5)
    conversation = await store.conversations.get(turn.conversation_id or "", ada.id)
    said = conversation.messages[-1]
    assert (said.text, said.status, said.ending) == ("Goodmorningtoyou.", "finished", "stop")
    assert said.usage is not None
    assert said.usage.num_output_tokens == 5
    assert (conversation.title, conversation.running) == ("Greetings", None)
    assert conversation.updated_at == clock.now
    assert await store.turns.events(turn.turn_id, ada.id) == log
    assert await store.turns.list_running() == []


async def test_a_log_can_be_read_from_any_event(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "Hello?")
    log = await answer(turn, "one two three")
    for after in range(len(log) + 2):
        assert await store.turns.events(turn.turn_id, ada.id, after) == log[after:]
    assert await read_log(store, turn.turn_id) == log


async def test_a_model_does_not_replace_a_title_the_person_chose(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "Hello?", title="Hello")
    await store.conversations.update(turn.conversation_id or "", ada.id, title="Mine")
    await answer(turn, "Hi.", title="Greetings")
    assert (await store.conversations.get(turn.conversation_id or "", ada.id)).title == "Mine"


async def test_an_api_turn_has_a_log_but_no_conversation(store: Store, ada: User) -> None:
    given = (Message("user", (Text("Hi"),)),)
    turn = _api_turn(ada, given)
    await store.turns.accept(turn)
    await store.turns.append(_entries(turn, "Hello", TurnFinished("stop")), [_finish(turn, "stop")])
    row = await store.turns.get(turn.turn_id, ada.id)
    assert (row.surface, row.state, row.conversation_id) == ("api", "stop", None)
    assert len(await store.turns.events(turn.turn_id, ada.id)) == 2
    assert (await store.conversations.list(ada.id)).total == 0


async def test_a_turn_that_ended_before_its_answer_began_leaves_nothing_in_progress(
    store: Store, ada: User, ask: Ask
) -> None:
    turn = await ask(ada, "Hello?")
    await store.turns.append([], [FinishedTurn(turn.turn_id, EMPTY, 5.0)])
    conversation = await store.conversations.get(turn.conversation_id or "", ada.id)
    assert conversation.messages[-1].status == "partial"
    assert conversation.messages[-1].ending == "interrupted"
    assert (await store.turns.get(turn.turn_id, ada.id)).state == "interrupted"


async def test_the_same_message_is_accepted_once(store: Store, ada: User, ask: Ask) -> None:
    first = await ask(ada, "Hello?")
    again = structs.replace(
        first, turn_id=str(uuid4()), answer_id=str(uuid4()), creates_conversation=False
    )
    outcomes = await asyncio.gather(
        *(store.turns.accept(again) for _ in range(5)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [Conflict] * 5
    conversation = await store.conversations.get(first.conversation_id or "", ada.id)
    assert len(conversation.messages) == 2
    assert [left.id for left in await store.turns.list_running()] == [first.turn_id]


async def test_one_of_many_concurrent_equal_sends_is_accepted(
    store: Store, ada: User, ask: Ask
) -> None:
    first = await ask(ada, "Hello?")
    message_id = str(uuid4())
    sends = [
        structs.replace(
            first,
            turn_id=str(uuid4()),
            answer_id=str(uuid4()),
            creates_conversation=False,
            message_id=message_id,
            parent_id=first.answer_id,
        )
        for _ in range(20)
    ]
    outcomes = await asyncio.gather(*map(store.turns.accept, sends), return_exceptions=True)
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 19
    assert len(await store.turns.list_running()) == 2


async def test_two_conversations_may_have_the_same_message_id(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    hers = await ask(ada, "Hello?")
    theirs = structs.replace(
        hers,
        turn_id=str(uuid4()),
        conversation_id=str(uuid4()),
        user_id=eve.id,
        parts=(Text("Me"),),
    )
    await store.turns.accept(theirs)
    for turn, said in ((hers, "Hello?"), (theirs, "Me")):
        conversation = await store.conversations.get(turn.conversation_id or "", turn.user_id)
        assert conversation.messages[0].text == said


async def test_a_send_to_a_missing_conversation_stores_nothing(
    store: Store, ada: User, ask: Ask
) -> None:
    first = await ask(ada, "Hello?")
    sent = structs.replace(
        first, turn_id="t", message_id="m", answer_id="a", creates_conversation=False
    )
    for lost in (
        structs.replace(sent, conversation_id="nowhere"),
        structs.replace(sent, parent_id="nothing"),
        structs.replace(sent, message_id=None, parent_id="nothing", action="variant"),
    ):
        with pytest.raises(NotFound):
            await store.turns.accept(lost)
    with pytest.raises(NotFound):
        await store.turns.get("t", ada.id)
    assert [left.id for left in await store.turns.list_running()] == [first.turn_id]
    assert len((await store.conversations.get(first.conversation_id or "", ada.id)).messages) == 2


async def test_events_of_a_deleted_turn_do_not_block_other_turns(
    store: Store, ada: User, ask: Ask
) -> None:
    gone, kept = await ask(ada, "Delete me"), await ask(ada, "Keep me")
    await store.conversations.delete(gone.conversation_id or "", ada.id)
    await store.turns.append([*_entries(gone, "lost"), *_entries(kept, "kept")])
    await store.turns.append(
        [*_entries(gone, "lost"), LogEntry(kept.turn_id, Stamped(2, 2.0, TurnFinished("stop")))],
        [_finish(gone, "stop"), _finish(kept, "stop")],
    )
    assert await read_log(store, gone.turn_id) == []
    assert len(await read_log(store, kept.turn_id)) == 2
    assert (await store.turns.get(kept.turn_id, ada.id)).state == "stop"


async def test_storing_the_same_events_again_changes_nothing(
    store: Store, ada: User, ask: Ask
) -> None:
    """A commit may take effect although the disk reports an error."""
    turn, other = await ask(ada, "One"), await ask(ada, "Two")
    group = [*_entries(turn, "first"), *_entries(other, "mine")]
    await store.turns.append(group)
    await store.turns.append(group)
    await store.turns.append([*group, LogEntry(turn.turn_id, Stamped(2, 2.0, TextArrived("more")))])
    assert [line.seq for line in await read_log(store, turn.turn_id)] == [1, 2]
    assert [line.seq for line in await read_log(store, other.turn_id)] == [1]


async def test_a_very_large_batch_of_events_is_stored(store: Store, ada: User, ask: Ask) -> None:
    turn = await ask(ada, "Write a book")
    words: list[AnyEvent] = [TextArrived(f"{number} ") for number in range(2500)]
    entries = _entries(turn, *words)
    await store.turns.append(entries)
    assert await read_log(store, turn.turn_id) == [entry.stamped for entry in entries]


async def test_a_cancelled_caller_leaves_the_store_working(
    store: Store, ada: User, ask: Ask
) -> None:
    turn = await ask(ada, "Hello?")
    for num_steps in range(0, 400, 20):
        task = asyncio.create_task(store.turns.append([], [_finish(turn, "stop")]))
        for _ in range(num_steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(5):
            await store.check()
    another = await ask(ada, "Still there?")
    await store.turns.append(_entries(another, "yes"))
    assert len(await read_log(store, another.turn_id)) == 1


FINITE = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(max_size=40)
TOKEN = st.builds(Token, st.integers(-1, 2**31), WORDS, st.none() | FINITE, FINITE, st.just(()))
EVENT = st.one_of(
    st.builds(TextArrived, WORDS, st.lists(TOKEN, max_size=3).map(tuple)),
    st.builds(ToolCallArrived, st.builds(ToolCall, WORDS, WORDS, WORDS)),
    st.builds(MessageAdded, WORDS, st.none() | WORDS, st.builds(Message, st.just("user"))),
    st.builds(PromptRead, st.integers(0), st.integers(0), FINITE, FINITE),
    st.builds(TitleChosen, WORDS, st.integers(1, 2)),
    st.builds(TurnFailed, WORDS, WORDS, st.booleans(), st.none() | st.integers(0, 2**53)),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENT, max_size=8), split=st.integers(0, 8), at_ms=FINITE)
async def test_every_event_is_read_as_it_was_stored(
    store: Store, ada: User, events: list[AnyEvent], split: int, at_ms: float
) -> None:
    turn = _api_turn(ada)
    await store.turns.accept(turn)
    log = [Stamped(seq, at_ms, event) for seq, event in enumerate(events, 1)]
    entries = [LogEntry(turn.turn_id, line) for line in log]
    await store.turns.append(entries[:split])
    await store.turns.append(entries[split:])
    assert await store.turns.events(turn.turn_id, ada.id) == log


def _api_turn(user: User, given: tuple[Message, ...] = ()) -> NewTurn:
    return NewTurn(
        turn_id=str(uuid4()),
        user_id=user.id,
        conversation_id=None,
        action="next",
        model="tiny",
        answer_id=str(uuid4()),
        given=given,
        created_at=1.0,
    )


def _entries(turn: NewTurn, *content: str | AnyEvent) -> list[LogEntry]:
    events = [TextArrived(one) if isinstance(one, str) else one for one in content]
    return [LogEntry(turn.turn_id, Stamped(seq, float(seq), e)) for seq, e in enumerate(events, 1)]


def _finish(turn: NewTurn, ending: Ending) -> FinishedTurn:
    return FinishedTurn(turn.turn_id, fold([TurnFinished(ending)]), 9.0)


@pytest.mark.parametrize("is_erased", [False, True])
async def test_a_turn_of_an_account_disabled_meanwhile_is_refused(
    store: Store, ada: User, eve: User, ask: Ask, answer: Answer, is_erased: bool
) -> None:
    first = await ask(eve, "Hello?")
    await answer(first, "Yes.")
    await store.accounts.close_account(eve.id)
    if is_erased:
        await store.accounts.erase(eve.id)
    api_call = structs.replace(
        first, turn_id=str(uuid4()), conversation_id=None, creates_conversation=False
    )
    with pytest.raises(Unauthenticated):
        await ask(eve, "And another thing")
    with pytest.raises(Unauthenticated):
        await ask(eve, "And another thing", to=first, after=first.answer_id)
    with pytest.raises(Unauthenticated):
        await store.turns.accept(api_call)
    assert await store.turns.list_running() == []
    assert await ask(ada, "I am still here")


async def test_a_turn_is_hidden_and_restored_with_its_conversation(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "Hello?")
    log = await answer(turn, "Yes.")
    conversation_id = turn.conversation_id or ""
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    with pytest.raises(NotFound, match="no such turn"):
        await store.turns.events(turn.turn_id, ada.id)
    with pytest.raises(NotFound, match="no such turn"):
        await store.turns.get(turn.turn_id, ada.id)
    assert await read_log(store, turn.turn_id) == log
    await store.conversations.update(conversation_id, ada.id, is_visible=True)
    assert await store.turns.events(turn.turn_id, ada.id) == log
