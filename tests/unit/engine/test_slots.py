"""The slot queue is fair between lanes and never admits more answers than fit."""

import asyncio
from collections import Counter
from contextlib import ExitStack, aclosing
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.slots import MAX_WAITING, SlotRequest, Slots
from hitsend.errors import Overloaded


async def hold_slot(slots: Slots, num_tokens: int, name: str, order: list[str]) -> None:
    async with slots.acquire(num_tokens):
        order.append(name)
        await asyncio.sleep(0)


async def test_requests_are_admitted_while_there_is_room() -> None:
    slots = Slots(2, 100)
    async with slots.acquire(50), slots.acquire(50):
        assert slots.num_busy == 2
        assert not slots.has_room(1)
    assert slots.is_idle


async def test_waiting_requests_are_admitted_in_order() -> None:
    slots, order = Slots(1, 100), list[str]()
    async with asyncio.TaskGroup() as group:
        for name in "abcd":
            group.create_task(hold_slot(slots, 10, name, order))
    assert order == ["a", "b", "c", "d"]
    assert slots.is_idle


async def test_a_long_prompt_does_not_starve() -> None:
    slots, order = Slots(4, 100), list[str]()
    async with asyncio.TaskGroup() as group, slots.acquire(60):
        group.create_task(hold_slot(slots, 90, "long", order))
        await asyncio.sleep(0)
        group.create_task(hold_slot(slots, 10, "short", order))
        await asyncio.sleep(0)
        assert slots.num_waiting == 2
        assert order == []
    assert order == ["long", "short"]


async def test_leaving_the_queue_admits_the_next_request() -> None:
    slots, order = Slots(4, 100), list[str]()
    async with slots.acquire(60):
        long = asyncio.create_task(hold_slot(slots, 90, "long", order))
        await asyncio.sleep(0)
        short = asyncio.create_task(hold_slot(slots, 10, "short", order))
        await asyncio.sleep(0)
        long.cancel()
        await asyncio.wait([long])
        async with asyncio.timeout(5):
            await short
    assert order == ["short"]
    assert slots.is_idle
    assert slots.num_waiting == 0


async def test_a_request_cancelled_as_it_is_admitted_frees_its_slot() -> None:
    slots, order = Slots(1, 100), list[str]()
    async with slots.acquire(10):
        waiting = asyncio.create_task(hold_slot(slots, 10, "a", order))
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert order == []
    assert slots.is_idle
    assert slots.has_room(100)


async def test_a_request_that_need_not_wait_reports_no_position() -> None:
    slots = Slots(1, 100)
    with slots.enqueue(10) as request:
        assert [num_ahead async for num_ahead in slots.watch_queue(request)] == []
    assert slots.is_idle


async def test_a_waiting_request_reports_how_many_are_ahead() -> None:
    slots, answering, impatient = Slots(1, 100, report_interval_s=0.001), ExitStack(), ExitStack()
    answering.enter_context(slots.enqueue(10))
    impatient.enter_context(slots.enqueue(10))
    with slots.enqueue(10) as request:
        async with asyncio.timeout(5), aclosing(slots.watch_queue(request)) as positions:
            assert await anext(positions) == 1
            impatient.close()
            assert await anext(positions) == 0
            answering.close()
            assert [num_ahead async for num_ahead in positions] == []
    assert slots.is_idle


class Crowd:
    """Requests that wait or hold a slot, to be released one by one."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self._leaving: dict[SlotRequest, ExitStack] = {}

    def come(self, lane: str, num_tokens: int = 10) -> SlotRequest:
        stack = ExitStack()
        request = stack.enter_context(self.slots.enqueue(num_tokens, lane))
        self._leaving[request] = stack
        return request

    def go(self, request: SlotRequest) -> None:
        self._leaving.pop(request).close()

    @property
    def running(self) -> list[SlotRequest]:
        """The admitted requests, in order of arrival."""
        return [request for request in self._leaving if request.is_admitted.is_set()]


async def position(slots: Slots, request: SlotRequest) -> int:
    async with aclosing(slots.watch_queue(request)) as telling:
        return await anext(telling)


async def test_a_lane_with_one_request_goes_before_a_lane_with_many() -> None:
    crowd = Crowd(Slots(1, 100))
    running, *much = [crowd.come("much") for _ in range(5)]
    once = crowd.come("once")
    assert [await position(crowd.slots, request) for request in much] == [1, 2, 3, 4]
    assert await position(crowd.slots, once) == 0
    crowd.go(running)
    assert once.is_admitted.is_set()
    crowd.go(once)
    assert crowd.running == [much[0]]


async def test_a_lane_with_a_running_answer_goes_behind_one_without() -> None:
    crowd = Crowd(Slots(2, 100))
    first, _second = crowd.come("a"), crowd.come("b")
    more, new = crowd.come("a"), crowd.come("c")
    assert (await position(crowd.slots, new), await position(crowd.slots, more)) == (0, 1)
    crowd.go(first)
    assert new.is_admitted.is_set()
    assert not more.is_admitted.is_set()


@given(num_lanes=st.integers(1, 6), num_slots=st.integers(1, 4), num_served=st.integers(1, 60))
async def test_busy_lanes_are_served_equally_often(
    num_lanes: int, num_slots: int, num_served: int
) -> None:
    crowd, served = Crowd(Slots(num_slots, 10 * num_slots)), Counter[str]()
    lanes = [str(number) for number in range(num_lanes)]
    for lane in lanes * (num_slots + 1):
        crowd.come(lane)
    for _ in range(num_served):
        done = crowd.running[0]
        served[done.lane] += 1
        crowd.come(done.lane)
        crowd.go(done)
    counts = [served[lane] for lane in lanes]
    assert max(counts) - min(counts) <= 1


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 60)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
async def test_every_waiting_request_is_admitted_whatever_comes_after(
    coming: list[tuple[str, int]], chance: Random
) -> None:
    crowd = Crowd(Slots(3, 60))
    crowd.come("a", 40)
    large = crowd.come("b", 60)
    num_gone = 0
    for lane, num_tokens in coming * 4:
        if large.is_admitted.is_set():
            break
        crowd.come(lane, num_tokens)
        crowd.go(chance.choice(crowd.running))
        num_gone += 1
    assert large.is_admitted.is_set()
    assert num_gone <= 4, "each other lane goes before it once at most"


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 30)), max_size=30),
    st.randoms(use_true_random=False),
)
async def test_the_reported_position_is_the_order_of_admission(
    coming: list[tuple[str, int]], chance: Random
) -> None:
    slots = Slots(2, 40)
    crowd = Crowd(slots)
    requests = [crowd.come(lane, num_tokens) for lane, num_tokens in coming]
    while running := crowd.running:
        waiting = [request for request in requests if not request.is_admitted.is_set()]
        ahead = {request: await position(slots, request) for request in waiting}
        assert sorted(ahead.values()) == list(range(slots.num_waiting))
        crowd.go(chance.choice(running))
        assert slots.num_busy == len(crowd.running) <= 2
    assert slots.is_idle
    assert slots.has_room(40)


def test_the_queue_is_bounded() -> None:
    slots = Slots(1, 100)
    with ExitStack() as waiting:
        for _ in range(MAX_WAITING + 1):
            waiting.enter_context(slots.enqueue(1))
        with pytest.raises(Overloaded), slots.enqueue(1):
            pytest.fail("let in")
    assert slots.is_idle
