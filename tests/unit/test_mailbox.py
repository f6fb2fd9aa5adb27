"""A mailbox: in order, with an end to its room, and nothing lost where somebody gives up."""

import asyncio
from typing import TypeVar

import pytest

from hitsend.mailbox import Mailbox

T = TypeVar("T")


async def test_letters_come_out_as_they_went_in() -> None:
    mailbox = Mailbox[int]()
    reading = asyncio.create_task(taken(mailbox, 5))
    await asyncio.sleep(0)
    for letter in range(5):
        mailbox.put_nowait(letter)
    assert await reading == [0, 1, 2, 3, 4]
    assert mailbox.empty()


async def test_who_finds_it_full_waits_for_room() -> None:
    mailbox = Mailbox[int](room=2)
    writing = [asyncio.create_task(mailbox.put(letter)) for letter in range(6)]
    await asyncio.sleep(0)
    assert mailbox.full()
    assert [task.done() for task in writing] == [True, True, False, False, False, False]
    writing[2].cancel()
    async with asyncio.timeout(5):
        assert await taken(mailbox, 5) == [0, 1, 3, 4, 5]
    await asyncio.wait(writing)


async def test_who_waits_for_room_takes_turns_with_the_others() -> None:
    mailbox = Mailbox[str](room=3)
    writing = [asyncio.create_task(put_many(mailbox, name, 6)) for name in "ab"]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert "".join(await taken(mailbox, 12)) == "aaaabababbbb"
    await asyncio.wait(writing)


async def test_who_gives_up_when_called_lets_the_next_one_in() -> None:
    mailbox = Mailbox[int](room=1)
    mailbox.put_nowait(0)
    writing = [asyncio.create_task(mailbox.put(letter)) for letter in (1, 2)]
    await asyncio.sleep(0)
    assert await taken(mailbox, 1) == [0]
    writing[0].cancel()
    async with asyncio.timeout(5):
        assert await taken(mailbox, 1) == [2]
    await asyncio.wait(writing)


async def test_a_reader_that_gives_up_leaves_everything_to_the_next() -> None:
    mailbox = Mailbox[int]()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await mailbox.get()
    mailbox.put_nowait(1)
    assert await taken(mailbox, 1) == [1]


async def put_many(mailbox: Mailbox[T], letter: T, num_letters: int) -> None:
    for _ in range(num_letters):
        await mailbox.put(letter)


async def taken(mailbox: Mailbox[T], num_letters: int) -> list[T]:
    return [await mailbox.get() for _ in range(num_letters)]
