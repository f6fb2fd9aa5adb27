"""Who may answer now: lanes take turns, and there are never more answers than fit."""

import asyncio
from collections import Counter
from contextlib import ExitStack, aclosing
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.slots import MAX_WAITING, Place, Slots
from hitsend.errors import Overloaded


async def held(slots: Slots, num_tokens: int, name: str, order: list[str]) -> None:
    async with slots.hold(num_tokens):
        order.append(name)
        await asyncio.sleep(0)


async def test_nobody_waits_while_there_is_room() -> None:
    slots = Slots(2, 100)
    async with slots.hold(50), slots.hold(50):
        assert slots.num_busy == 2
        assert not slots.has_room(1)
    assert slots.is_idle


async def test_those_who_wait_come_in_order() -> None:
    slots, order = Slots(1, 100), list[str]()
    async with asyncio.TaskGroup() as group:
        for name in "abcd":
            group.create_task(held(slots, 10, name, order))
    assert order == ["a", "b", "c", "d"]
    assert slots.is_idle


async def test_a_long_prompt_is_not_overtaken_for_ever() -> None:
    slots, order = Slots(4, 100), list[str]()
    async with asyncio.TaskGroup() as group, slots.hold(60):
        group.create_task(held(slots, 90, "long", order))
        await asyncio.sleep(0)
        group.create_task(held(slots, 10, "short", order))
        await asyncio.sleep(0)
        assert slots.num_waiting == 2
        assert order == []
    assert order == ["long", "short"]


async def test_leaving_the_queue_lets_the_next_one_in() -> None:
    slots, order = Slots(4, 100), list[str]()
    async with slots.hold(60):
        long = asyncio.create_task(held(slots, 90, "long", order))
        await asyncio.sleep(0)
        short = asyncio.create_task(held(slots, 10, "short", order))
        await asyncio.sleep(0)
        long.cancel()
        await asyncio.wait([long])
        async with asyncio.timeout(5):
            await short
    assert order == ["short"]
    assert slots.is_idle
    assert slots.num_waiting == 0


async def test_one_cancelled_as_it_is_let_in_gives_its_place_back() -> None:
    slots, order = Slots(1, 100), list[str]()
    async with slots.hold(10):
        waiting = asyncio.create_task(held(slots, 10, "a", order))
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert order == []
    assert slots.is_idle
    assert slots.has_room(100)


async def test_nothing_is_told_to_those_who_need_not_wait() -> None:
    slots = Slots(1, 100)
    with slots.take_place(10) as place:
        assert [num_ahead async for num_ahead in slots.num_ahead(place)] == []
    assert slots.is_idle


async def test_those_who_wait_are_told_how_many_are_before_them() -> None:
    slots, answering, impatient = Slots(1, 100, tell_s=0.001), ExitStack(), ExitStack()
    answering.enter_context(slots.take_place(10))
    impatient.enter_context(slots.take_place(10))
    with slots.take_place(10) as place:
        async with asyncio.timeout(5), aclosing(slots.num_ahead(place)) as told:
            assert await anext(told) == 1
            impatient.close()
            assert await anext(told) == 0
            answering.close()
            assert [num_ahead async for num_ahead in told] == []
    assert slots.is_idle


class Crowd:
    """Answers that wait or run, to be let go one by one."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self._leaving: dict[Place, ExitStack] = {}

    def come(self, lane: str, num_tokens: int = 10) -> Place:
        stack = ExitStack()
        place = stack.enter_context(self.slots.take_place(num_tokens, lane))
        self._leaving[place] = stack
        return place

    def go(self, place: Place) -> None:
        self._leaving.pop(place).close()

    @property
    def running(self) -> list[Place]:
        """Those let in, in the order they came."""
        return [place for place in self._leaving if place.is_in.is_set()]


async def told(slots: Slots, place: Place) -> int:
    async with aclosing(slots.num_ahead(place)) as telling:
        return await anext(telling)


async def test_who_asks_once_goes_before_who_asks_for_much() -> None:
    crowd = Crowd(Slots(1, 100))
    running, *much = [crowd.come("much") for _ in range(5)]
    once = crowd.come("once")
    assert [await told(crowd.slots, place) for place in much] == [1, 2, 3, 4]
    assert await told(crowd.slots, once) == 0
    crowd.go(running)
    assert once.is_in.is_set()
    crowd.go(once)
    assert crowd.running == [much[0]]


async def test_a_lane_that_has_an_answer_running_goes_behind_one_that_has_none() -> None:
    crowd = Crowd(Slots(2, 100))
    first, _second = crowd.come("a"), crowd.come("b")
    more, new = crowd.come("a"), crowd.come("c")
    assert (await told(crowd.slots, new), await told(crowd.slots, more)) == (0, 1)
    crowd.go(first)
    assert new.is_in.is_set()
    assert not more.is_in.is_set()


@given(num_lanes=st.integers(1, 6), num_slots=st.integers(1, 4), num_served=st.integers(1, 60))
async def test_lanes_that_always_want_are_served_equally_often(
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
async def test_whoever_waits_gets_in_whatever_comes_after(
    coming: list[tuple[str, int]], chance: Random
) -> None:
    crowd = Crowd(Slots(3, 60))
    crowd.come("a", 40)
    large = crowd.come("b", 60)
    num_gone = 0
    for lane, num_tokens in coming * 4:
        if large.is_in.is_set():
            break
        crowd.come(lane, num_tokens)
        crowd.go(chance.choice(crowd.running))
        num_gone += 1
    assert large.is_in.is_set()
    assert num_gone <= 4, "each other lane goes before it once at most"


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 30)), max_size=30),
    st.randoms(use_true_random=False),
)
async def test_the_place_that_is_told_is_the_place_in_the_order(
    coming: list[tuple[str, int]], chance: Random
) -> None:
    slots = Slots(2, 40)
    crowd = Crowd(slots)
    places = [crowd.come(lane, num_tokens) for lane, num_tokens in coming]
    while running := crowd.running:
        waiting = [place for place in places if not place.is_in.is_set()]
        ahead = {place: await told(slots, place) for place in waiting}
        assert sorted(ahead.values()) == list(range(slots.num_waiting))
        crowd.go(chance.choice(running))
        assert slots.num_busy == len(crowd.running) <= 2
    assert slots.is_idle
    assert slots.has_room(40)


def test_a_queue_has_an_end() -> None:
    slots = Slots(1, 100)
    with ExitStack() as waiting:
        for _ in range(MAX_WAITING + 1):
            waiting.enter_context(slots.take_place(1))
        with pytest.raises(Overloaded), slots.take_place(1):
            pytest.fail("let in")
    assert slots.is_idle
