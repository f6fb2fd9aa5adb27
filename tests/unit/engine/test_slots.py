"""Who may answer now: first come, first served, and never more than fits."""

import asyncio
from contextlib import ExitStack, aclosing

from hitsend.engine.slots import Slots


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
