"""A mailbox: in order, with an end to its room, and nothing lost where somebody gives up."""

import asyncio

import pytest

from hitsend.mailbox import Mailbox


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


async def test_a_reader_that_gives_up_leaves_everything_to_the_next() -> None:
    mailbox = Mailbox[int]()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await mailbox.get()
    mailbox.put_nowait(1)
    assert await taken(mailbox, 1) == [1]


async def taken(mailbox: Mailbox[int], num_letters: int) -> list[int]:
    return [await mailbox.get() for _ in range(num_letters)]
