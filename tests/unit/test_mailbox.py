"""A mailbox keeps order, waits while it is full, and loses nothing on cancellation."""

import asyncio
from typing import TypeVar

import pytest

from hitsend.mailbox import Mailbox

T = TypeVar("T")


async def test_items_come_out_in_order() -> None:
    mailbox = Mailbox[int]()
    reading = asyncio.create_task(get_many(mailbox, 5))
    await asyncio.sleep(0)
    for item in range(5):
        mailbox.put_nowait(item)
    assert await reading == [0, 1, 2, 3, 4]
    assert mailbox.empty()


async def test_put_waits_while_the_mailbox_is_full() -> None:
    mailbox = Mailbox[int](max_items=2)
    writing = [asyncio.create_task(mailbox.put(item)) for item in range(6)]
    await asyncio.sleep(0)
    assert mailbox.full()
    assert [task.done() for task in writing] == [True, True, False, False, False, False]
    writing[2].cancel()
    async with asyncio.timeout(5):
        assert await get_many(mailbox, 5) == [0, 1, 3, 4, 5]
    await asyncio.wait(writing)


async def test_waiting_writers_take_turns() -> None:
    mailbox = Mailbox[str](max_items=3)
    writing = [asyncio.create_task(put_many(mailbox, name, 6)) for name in "ab"]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert "".join(await get_many(mailbox, 12)) == "aaaabababbbb"
    await asyncio.wait(writing)


async def test_a_writer_cancelled_at_its_turn_lets_the_next_one_in() -> None:
    mailbox = Mailbox[int](max_items=1)
    mailbox.put_nowait(0)
    writing = [asyncio.create_task(mailbox.put(item)) for item in (1, 2)]
    await asyncio.sleep(0)
    assert await get_many(mailbox, 1) == [0]
    writing[0].cancel()
    async with asyncio.timeout(5):
        assert await get_many(mailbox, 1) == [2]
    await asyncio.wait(writing)


async def test_a_cancelled_reader_loses_no_item() -> None:
    mailbox = Mailbox[int]()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await mailbox.get()
    mailbox.put_nowait(1)
    assert await get_many(mailbox, 1) == [1]


async def put_many(mailbox: Mailbox[T], item: T, num_items: int) -> None:
    for _ in range(num_items):
        await mailbox.put(item)


async def get_many(mailbox: Mailbox[T], num_items: int) -> list[T]:
    return [await mailbox.get() for _ in range(num_items)]
