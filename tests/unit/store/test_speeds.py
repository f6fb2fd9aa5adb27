"""The speed of each model, from its last answers."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace

from hitsend.events import AnswerFinished, AnswerStarted, AnyEvent, Stamped, TurnFinished
from hitsend.messages import Usage
from hitsend.store import FinishedTurn, LogEntry, NewTurn, Store, User
from hitsend.transcript import fold

Ask = Callable[..., Awaitable[NewTurn]]


async def store_answer(store: Store, turn: NewTurn, num_tokens: int, decode_ms: float) -> None:
    usage = Usage(num_output_tokens=num_tokens, decode_ms=decode_ms)
    events: list[AnyEvent] = [
        AnswerStarted(turn.answer_id, turn.message_id, turn.model),
        AnswerFinished(turn.answer_id, "stop", usage),
        TurnFinished("stop"),
    ]
    log = [Stamped(seq, seq * 10.0, event) for seq, event in enumerate(events, 1)]
    closing = FinishedTurn(turn.turn_id, fold(events), 1.0)
    await store.turns.append([LogEntry(turn.turn_id, line) for line in log], [closing])


async def test_there_is_no_speed_before_the_first_answer(store: Store) -> None:
    assert await store.turns.speeds() == {}


async def test_short_and_unfinished_answers_do_not_count(store: Store, ada: User, ask: Ask) -> None:
    await ask(ada, "still running")
    await store_answer(store, await ask(ada, "short"), 15, 1.0)
    await store_answer(store, await ask(ada, "not timed"), 100, 0.0)
    assert await store.turns.speeds() == {}


async def test_the_last_twenty_answers_count(store: Store, ada: User, ask: Ask) -> None:
    for _ in range(3):
        await store_answer(store, await ask(ada, "slow once"), 100, 100_000.0)
    for _ in range(10):
        await store_answer(store, await ask(ada, "now"), 20, 1000.0)
        await store_answer(store, await ask(ada, "now"), 60, 1000.0)
    assert await store.turns.speeds() == {"tiny": 40.0}


async def test_speeds_are_cached_for_half_a_minute(
    store: Store, clock: SimpleNamespace, ada: User, ask: Ask
) -> None:
    first, second = await ask(ada, "one"), await ask(ada, "two")
    await store_answer(store, first, 20, 1000.0)
    assert await store.turns.speeds() == {"tiny": 20.0}
    await store_answer(store, second, 60, 1000.0)
    assert await store.turns.speeds() == {"tiny": 20.0}
    clock.now += 31
    assert await store.turns.speeds() == {"tiny": 40.0}
