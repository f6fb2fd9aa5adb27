"""A writer that is cancelled in the middle stands in nobody's way."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import text

from hitsend.events import Stamped, TextArrived
from hitsend.store import Entry, NewTurn, Store, User

Write = Callable[[int], Awaitable[object]]

NUM_MOMENTS = 100
MORE = text("INSERT INTO meta VALUES (hex(randomblob(8)), 1)")


async def cancelled_after(num_steps: int, write: Awaitable[object]) -> bool:
    """Whether it was cancelled before it was done."""
    writing = asyncio.ensure_future(write)
    for _ in range(num_steps):
        await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait([writing])
    return writing.cancelled()


@pytest.mark.parametrize("kind", ["accept", "append", "check"])
async def test_others_can_write_whenever_a_writer_is_cancelled(
    store: Store, ada: User, ask: Callable[..., Awaitable[NewTurn]], kind: str
) -> None:
    turn = await ask(ada, "Hello")
    writes: dict[str, Write] = {
        "accept": lambda n: ask(ada, f"Hello {n}"),
        "append": lambda n: store.turns.append(
            [Entry(turn.turn_id, Stamped(n, 0.0, TextArrived("a")))]
        ),
        "check": lambda _: store.check(),
    }
    num_cancelled = 0
    async with asyncio.timeout(30):
        for n in range(1, NUM_MOMENTS):
            num_cancelled += await cancelled_after(n, writes[kind](n))
            await store.check()
    assert num_cancelled


async def test_a_writer_cancelled_twice_leaves_nothing_half_written(store: Store) -> None:
    begun = asyncio.Event()

    async def write() -> None:
        async with store._database.write() as connection:
            begun.set()
            for _ in range(1000):
                await connection.execute(MORE)

    writing = asyncio.create_task(write())
    await begun.wait()
    writing.cancel()
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait([writing])
    assert writing.cancelled()
    async with store._database.read() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM meta WHERE value = 1")) == 0
    await store.check()
