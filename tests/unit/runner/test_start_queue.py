"""The queue of Sends that start: a few at a time, each person in turn, and nobody waits long."""

import asyncio

import pytest

from hitsend.errors import Overloaded
from hitsend.runner.start_queue import StartQueue

PATIENCE_S = 60.0


class Sends:
    """Sends that hold their place until they are let go."""

    def __init__(self, queue: StartQueue) -> None:
        self._queue = queue
        self.started: list[str] = []
        self.has_changed = asyncio.Event()
        self._ends: list[asyncio.Event] = []

    def send(self, user_id: str) -> asyncio.Task[None]:
        return asyncio.create_task(self._send(user_id))

    async def _send(self, user_id: str) -> None:
        async with self._queue.hold_place(user_id):
            self.started.append(user_id)
            self.has_changed.set()
            end = asyncio.Event()
            self._ends.append(end)
            await end.wait()

    async def let_go(self) -> None:
        """Ends the oldest one, and lets the next begin."""
        self._ends.pop(0).set()
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def queue(at_once: int, wait_s: float = PATIENCE_S, hold_s: float = PATIENCE_S) -> StartQueue:
    return StartQueue(at_once, longest_wait_s=wait_s, longest_hold_s=hold_s)


async def test_a_few_start_at_a_time() -> None:
    sends = Sends(queue(2))
    tasks = [sends.send("ada") for _ in range(5)]
    await settle()
    assert len(sends.started) == 2
    for num_started in (3, 4, 5):
        await sends.let_go()
        assert len(sends.started) == num_started
    await sends.let_go()
    await sends.let_go()
    await asyncio.gather(*tasks)


async def test_each_person_in_turn() -> None:
    sends = Sends(queue(1))
    tasks = [sends.send("hog") for _ in range(5)]
    await settle()
    tasks += [sends.send("ada"), sends.send("ada"), sends.send("eve")]
    await settle()
    for _ in tasks:
        await sends.let_go()
    assert sends.started == ["hog", "hog", "ada", "eve", "hog", "ada", "hog", "hog"]
    await asyncio.gather(*tasks)


async def test_who_waits_too_long_is_refused_with_a_time() -> None:
    sends = Sends(queue(1, wait_s=0.01))
    first, second = sends.send("ada"), sends.send("eve")
    with pytest.raises(Overloaded) as refused:
        await second
    assert refused.value.retry_after_s
    await sends.let_go()
    await first
    third = sends.send("eve")
    await settle()
    assert sends.started == ["ada", "eve"]
    await sends.let_go()
    await third


async def test_whoever_waits_for_something_else_holds_nobody_up() -> None:
    sends = Sends(queue(1, hold_s=0.01))
    first, second = sends.send("ada"), sends.send("eve")
    async with asyncio.timeout(PATIENCE_S):
        for num_started in (1, 2):
            await sends.has_changed.wait()
            sends.has_changed.clear()
            assert len(sends.started) == num_started
    await sends.let_go()
    await sends.let_go()
    await asyncio.gather(first, second)


async def test_leaving_the_line_gives_no_place_away() -> None:
    sends = Sends(queue(1))
    first, second, third = (sends.send(name) for name in ("ada", "eve", "bob"))
    await settle()
    second.cancel()
    await settle()
    await sends.let_go()
    assert sends.started == ["ada", "bob"]
    await sends.let_go()
    await asyncio.gather(first, third)


async def test_a_place_given_to_one_who_leaves_goes_to_the_next() -> None:
    sends = Sends(queue(1))
    first, second, third = (sends.send(name) for name in ("ada", "eve", "bob"))
    await settle()
    first.cancel()
    await asyncio.sleep(0)  # the place is given to the second, who does not know yet
    second.cancel()
    await settle()
    assert sends.started == ["ada", "bob"]
    await sends.let_go()
    await sends.let_go()
    await third
