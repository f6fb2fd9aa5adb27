"""Cancelling a writer in the middle does not block others."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import Connection, text

from hitsend.events import Stamped, TextArrived
from hitsend.store import LogEntry, NewTurn, Store, User

Write = Callable[[int], Awaitable[object]]

NUM_MOMENTS = 100
INSERT_ROW = text("INSERT INTO meta VALUES (hex(randomblob(8)), 1)")


async def cancel_after(num_steps: int, write: Awaitable[object]) -> bool:
    """Returns whether it was cancelled before it finished."""
    writing = asyncio.ensure_future(write)
    for _ in range(num_steps):
        await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait([writing])
    return writing.cancelled()


@pytest.mark.parametrize("kind", ["accept", "append", "check"])
async def test_cancelling_a_writer_does_not_block_others(
    store: Store, ada: User, ask: Callable[..., Awaitable[NewTurn]], kind: str
) -> None:
    turn = await ask(ada, "Hello")
    writes: dict[str, Write] = {
        "accept": lambda n: ask(ada, f"Hello {n}"),
        "append": lambda n: store.turns.append(
            [LogEntry(turn.turn_id, Stamped(n, 0.0, TextArrived("a")))]
        ),
        "check": lambda _: store.check(),
    }
    num_cancelled = 0
    async with asyncio.timeout(30):
        for n in range(1, NUM_MOMENTS):
            num_cancelled += await cancel_after(n, writes[kind](n))
            await store.check()
    assert num_cancelled


async def test_a_transaction_completes_even_if_its_task_is_cancelled(store: Store) -> None:
    begun, is_cancelled = threading.Event(), threading.Event()

    def insert_many(connection: Connection) -> None:
        begun.set()
        is_cancelled.wait(5)
        for _ in range(1000):
            connection.execute(INSERT_ROW)

    writing = asyncio.create_task(store._database.write(insert_many))
    await asyncio.to_thread(begun.wait, 5)
    writing.cancel()
    await asyncio.wait([writing])
    assert writing.cancelled()
    is_cancelled.set()
    await store.check()  # queues behind it
    count = text("SELECT count(*) FROM meta WHERE value = 1")
    assert await store._database.read(lambda connection: connection.scalar(count)) == 1000
