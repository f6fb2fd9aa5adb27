"""Logs of finished turns are packed, and read as before."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

import pytest

from hitsend.allowance import DAY_S
from hitsend.errors import NotFound
from hitsend.events import AnswerStarted, AnyEvent, Stamped, TextArrived, TitleChosen, TurnFinished
from hitsend.messages import Alternative, Message, Text, Token
from hitsend.store import FinishedTurn, LogEntry, NewTurn, Store, User
from hitsend.store.log_packing import MAX_EVENTS, PACK_AFTER_S, PACK_EVENTS
from hitsend.transcript import fold

Count: TypeAlias = Callable[[str], int]
Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]
LONG = " ".join(["word"] * (2 * PACK_EVENTS))


@pytest.fixture
def counts(tmp_path: Path) -> Count:
    def count(table: str) -> int:
        with closing(sqlite3.connect(tmp_path / "data" / "hitsend.db")) as connection:
            [(number,)] = connection.execute(f"SELECT count(*) FROM {table}")
            return int(number)

    return count


async def pack_all(store: Store, clock: SimpleNamespace) -> None:
    clock.now += PACK_AFTER_S
    while await store.log_packing.pack_finished():
        pass


async def test_a_packed_log_is_read_from_any_event_in_portions_of_any_size(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace
) -> None:
    turn = await ask(ada, "Hello?")
    log = await answer(turn, LONG)
    await pack_all(store, clock)
    for after in (0, 1, PACK_EVENTS - 1, PACK_EVENTS, PACK_EVENTS + 1, len(log) - 1, len(log)):
        for limit in (None, 1, PACK_EVENTS, len(log)):
            expected = log[after:][:limit]
            assert await store.turns.events(turn.turn_id, ada.id, after, limit) == expected
    assert await store.turns.last_seq(turn.turn_id, ada.id) == len(log)


async def test_packing_leaves_no_rows_of_finished_turns(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace, counts: Count
) -> None:
    logs = {}
    for _ in range(5):
        turn = await ask(ada, "Hello?")
        logs[turn.turn_id] = await answer(turn, LONG)
    assert counts("turn_events") > MAX_EVENTS
    await pack_all(store, clock)
    assert counts("turn_events") == 0
    for turn_id, log in logs.items():
        assert await store.turns.events(turn_id, ada.id) == log


async def test_a_running_turn_is_not_packed(
    store: Store, ada: User, ask: Ask, clock: SimpleNamespace, counts: Count
) -> None:
    turn = await ask(ada, "Hello?")
    await store.turns.append([LogEntry(turn.turn_id, Stamped(1, 1.0, TextArrived("Hel")))])
    await pack_all(store, clock)
    assert counts("turn_events") == 1
    assert [row.id for row in await store.turns.list_running()] == [turn.turn_id]


async def test_a_title_that_comes_after_packing_is_read_and_packed_too(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace, counts: Count
) -> None:
    turn = await ask(ada, "Hello?")
    log = await answer(turn, "Good morning")
    await pack_all(store, clock)
    title = Stamped(len(log) + 1, 99.0, TitleChosen("Greetings", 2))
    transcript = fold(stamped.event for stamped in [*log, title])
    finished = FinishedTurn(turn.turn_id, transcript, clock.now)
    await store.turns.append([LogEntry(turn.turn_id, title)], [finished])
    assert await store.turns.events(turn.turn_id, ada.id) == [*log, title]
    assert await store.turns.last_seq(turn.turn_id, ada.id) == title.seq
    await pack_all(store, clock)
    assert counts("turn_events") == 0
    assert await store.turns.events(turn.turn_id, ada.id) == [*log, title]


async def test_a_packed_log_is_deleted_with_its_conversation(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace, counts: Count
) -> None:
    turn = await ask(ada, "Hello?")
    await answer(turn, LONG)
    await pack_all(store, clock)
    await store.conversations.delete(turn.conversation_id or "", ada.id)
    assert counts("packed_events") == 0


async def test_others_do_not_find_a_packed_log(
    store: Store, ada: User, eve: User, ask: Ask, answer: Answer, clock: SimpleNamespace
) -> None:
    turn = await ask(ada, "Hello?")
    await answer(turn, LONG)
    await pack_all(store, clock)
    with pytest.raises(NotFound):
        await store.turns.events(turn.turn_id, eve.id)


async def test_a_log_that_cannot_be_packed_stays_and_stops_nothing(
    tmp_path: Path,
    store: Store,
    ada: User,
    ask: Ask,
    answer: Answer,
    clock: SimpleNamespace,
    counts: Count,
) -> None:
    broken, whole = await ask(ada, "Hello?"), await ask(ada, "Hello?")
    log = await answer(broken, "one two three")
    await answer(whole, "one two three")
    with closing(sqlite3.connect(tmp_path / "data" / "hitsend.db")) as connection:
        connection.execute(
            "DELETE FROM turn_events WHERE turn_id = ? AND seq = 2", (broken.turn_id,)
        )
        connection.commit()
    await pack_all(store, clock)
    assert counts("turn_events") == len(log) - 1
    assert await store.turns.events(broken.turn_id, ada.id) == [log[0], *log[2:]]


async def test_old_tokens_are_forgotten_and_the_text_stays(
    store: Store, ada: User, ask: Ask, clock: SimpleNamespace
) -> None:
    turn = await ask(ada, "Hello?")
    log = await answer_with_tokens(store, turn, clock)
    await pack_all(store, clock)
    before = await store.storage.used_by(ada.id)
    assert not await store.log_packing.forget_tokens(days=1)
    clock.now += DAY_S
    assert await store.log_packing.forget_tokens(days=1)
    assert not await store.log_packing.forget_tokens(days=1)
    events = await store.turns.events(turn.turn_id, ada.id)
    assert [(one.seq, one.at_ms) for one in events] == [(one.seq, one.at_ms) for one in log]
    assert [one.event.text for one in events if isinstance(one.event, TextArrived)] == [
        "Good",
        "bye",
    ]
    assert not any(one.event.tokens for one in events if isinstance(one.event, TextArrived))
    assert 0 < await store.storage.used_by(ada.id) < before


async def test_an_old_log_is_erased_and_its_conversation_stays(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace, counts: Count
) -> None:
    old, new = await ask(ada, "Hello?"), await ask(ada, "Hello?")
    await answer(old, "Good morning")
    clock.now += DAY_S
    log = await answer(new, "Good morning")
    await pack_all(store, clock)
    while await store.log_packing.erase_logs(days=1):
        pass
    assert await store.turns.events(old.turn_id, ada.id) == []
    assert await store.turns.events(new.turn_id, ada.id) == log
    conversation = await store.conversations.get(old.conversation_id or "", ada.id)
    assert conversation.messages[-1].text == "Goodmorning"


async def test_nothing_is_left_of_an_old_call_over_the_api_but_its_ledger_row(
    store: Store, ada: User, clock: SimpleNamespace, counts: Count
) -> None:
    turn = NewTurn(
        turn_id="a-call",
        user_id=ada.id,
        conversation_id=None,
        action="next",
        model="tiny",
        answer_id="an-answer",
        given=(Message("user", (Text("Hello?"),), "user"),),
        created_at=clock.now,
    )
    await store.turns.accept(turn)
    await answer_with_tokens(store, turn, clock)
    await pack_all(store, clock)
    clock.now += DAY_S
    assert await store.log_packing.erase_logs(days=1)
    assert [counts(table) for table in ("turns", "packed_events", "ledger")] == [0, 0, 1]


async def answer_with_tokens(store: Store, turn: NewTurn, clock: SimpleNamespace) -> list[Stamped]:
    tokens = [
        Token(7, "Good", -0.25, 1.5, (Alternative(7, "Good", -0.25), Alternative(9, "So", -1.5))),
        Token(8, "bye", None, 2.5),
    ]
    events: list[AnyEvent] = [
        AnswerStarted(turn.answer_id, turn.message_id, turn.model),
        *(TextArrived(token.text, (token,)) for token in tokens),
        TurnFinished("stop"),
    ]
    log = [Stamped(seq, float(seq), event) for seq, event in enumerate(events, 1)]
    entries = [LogEntry(turn.turn_id, stamped) for stamped in log]
    finished = FinishedTurn(turn.turn_id, fold(events), clock.now)
    await store.turns.append(entries, [finished])
    return log
