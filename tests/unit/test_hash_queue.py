"""The queue of password hashes: bounded, and shared fairly between addresses."""

import asyncio
from functools import partial
from threading import Event

import pytest

from hitsend.errors import Overloaded
from hitsend.hash_queue import HashQueue

PATIENCE_S = 30


class Held:
    """A queue whose first job waits until it is let go, and a record of the order of the others."""

    def __init__(self, max_waiting: int) -> None:
        self.queue = HashQueue(max_waiting)
        self.may_go, self.has_begun = Event(), Event()
        self.order: list[str] = []

    async def hold(self) -> "asyncio.Task[None]":
        task = asyncio.create_task(self.queue.run("first", self._wait))
        await asyncio.to_thread(self.has_begun.wait, PATIENCE_S)
        return task

    def _wait(self) -> None:
        self.has_begun.set()
        self.may_go.wait(PATIENCE_S)

    async def add(self, *names: str) -> "list[asyncio.Task[None]]":
        """Adds a job for each name. Its address is the name's first letter."""
        tasks = [
            asyncio.create_task(self.queue.run(name[0], partial(self.order.append, name)))
            for name in names
        ]
        await asyncio.sleep(0)  # they run up to where they wait for the thread
        return tasks


async def test_addresses_take_turns() -> None:
    held = Held(max_waiting=10)
    tasks = [await held.hold(), *await held.add("a1", "a2", "a3", "b1", "c1", "b2")]
    held.may_go.set()
    await asyncio.gather(*tasks)
    assert held.order == ["a1", "b1", "c1", "a2", "b2", "a3"]


async def test_a_full_queue_refuses_the_address_that_fills_it() -> None:
    held = Held(max_waiting=3)
    first = await held.hold()
    a1, a2, a3, a4, b1 = await held.add("a1", "a2", "a3", "a4", "b1")
    held.may_go.set()
    for refused in (a4, a3):
        with pytest.raises(Overloaded) as caught:
            await refused
        assert caught.value.retry_after_s
    await asyncio.gather(first, a1, a2, b1)
    assert held.order == ["a1", "b1", "a2"]


async def test_a_job_that_nobody_waits_for_is_not_done() -> None:
    held = Held(max_waiting=2)
    first = await held.hold()
    a1, a2 = await held.add("a1", "a2")
    a1.cancel()
    await asyncio.wait({a1})
    (b1,) = await held.add("b1")
    held.may_go.set()
    await asyncio.gather(first, a2, b1)
    assert held.order == ["a2", "b1"]


async def test_an_error_is_raised_where_the_result_is_awaited() -> None:
    def fail() -> None:
        raise ValueError("wrong")

    queue = HashQueue()
    with pytest.raises(ValueError, match="wrong"):
        await queue.run("a", fail)
    assert await queue.run("a", lambda: 5) == 5
