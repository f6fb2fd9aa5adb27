"""What nobody waits for runs only while nobody is there, and ends when somebody comes."""

import asyncio

import pytest

from hitsend.engine import GaveWay, Prompt
from hitsend.engine.spare_time import MAX_WAITING, SpareTime

WORD = "done"


def prompt(*ids: int, model: str = "tiny") -> Prompt:
    return Prompt(model, len(ids), 100, True, (), ids)


async def at_once() -> str:
    return WORD


async def for_ever() -> str:
    await asyncio.Event().wait()
    return WORD


async def test_it_runs_while_nobody_is_there() -> None:
    assert await SpareTime().use(at_once) == WORD


async def test_it_waits_for_the_last_person_to_leave() -> None:
    spare = SpareTime()
    with spare.person():
        with spare.person():
            waiting = asyncio.create_task(spare.use(at_once))
        await asyncio.sleep(0)
        assert not waiting.done()
    async with asyncio.timeout(5):
        assert await waiting == WORD


async def test_what_cannot_wait_is_told_at_once() -> None:
    spare = SpareTime()
    with spare.person(), pytest.raises(GaveWay):
        await spare.use(at_once, can_wait=False)
    running = asyncio.create_task(spare.use(for_ever))
    await asyncio.sleep(0)
    with pytest.raises(GaveWay):
        await spare.use(at_once, can_wait=False)
    running.cancel()


async def test_it_is_ended_when_a_person_comes() -> None:
    spare = SpareTime()
    running = asyncio.create_task(spare.use(for_ever))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        with spare.person():
            await spare.end(prompt(1))
            with pytest.raises(GaveWay):
                await running


async def test_one_that_reads_the_start_of_the_same_prompt_ends_its_step_and_no_more() -> None:
    spare, step = SpareTime(), asyncio.Event()

    async def read() -> str:
        await step.wait()
        return "stopped" if spare.is_over else WORD

    running = asyncio.create_task(spare.use(read, reads=prompt(1, 2)))
    await asyncio.sleep(0)
    with spare.person():
        ending = asyncio.create_task(spare.end(prompt(1, 2, 3)))
        await asyncio.sleep(0)
        assert not ending.done()
        step.set()
        async with asyncio.timeout(5):
            await ending
            assert await running == "stopped"


async def test_one_that_was_waited_for_is_left_off_when_another_comes() -> None:
    spare = SpareTime()
    running = asyncio.create_task(spare.use(for_ever, reads=prompt(1, 2)))
    await asyncio.sleep(0)
    with spare.person():
        ending = asyncio.create_task(spare.end(prompt(1, 2, 3)))
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.wait([ending])
    async with asyncio.timeout(5):
        with spare.person():
            await spare.end(prompt(7))
        with pytest.raises(GaveWay):
            await running


@pytest.mark.parametrize("read", [prompt(1, 3), prompt(1, 2, 3, 4), prompt(1, 2, model="other")])
async def test_one_that_reads_anything_else_is_left_off(read: Prompt) -> None:
    spare = SpareTime()
    running = asyncio.create_task(spare.use(for_ever, reads=read))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        with spare.person():
            await spare.end(prompt(1, 2, 3))
        with pytest.raises(GaveWay):
            await running


async def test_one_runs_at_a_time_and_the_next_one_after_it() -> None:
    spare, gate, order = SpareTime(), asyncio.Event(), list[str]()

    async def say(word: str) -> None:
        order.append(word)
        await gate.wait()

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(spare.use(lambda: say("first")))
        group.create_task(spare.use(lambda: say("second")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert order == ["first"]
        gate.set()
    assert order == ["first", "second"]


async def test_whoever_goes_away_takes_the_work_along() -> None:
    spare = SpareTime()
    running = asyncio.create_task(spare.use(for_ever))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    async with asyncio.timeout(5):
        assert await spare.use(at_once) == WORD


async def test_nobody_waits_for_what_was_left_twice() -> None:
    async def stubborn() -> str:
        try:
            return await for_ever()
        finally:
            await let_go.wait()

    spare, let_go = SpareTime(), asyncio.Event()
    running = asyncio.create_task(spare.use(stubborn, reads=prompt(1)))
    for _ in range(2):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running.cancel()
    await asyncio.wait([running])
    async with asyncio.timeout(5):
        with spare.person():
            await spare.end(prompt(1, 2))
    let_go.set()


async def test_an_error_in_it_is_the_callers() -> None:
    async def fail() -> str:
        raise LookupError

    spare = SpareTime()
    with pytest.raises(LookupError):
        await spare.use(fail)
    assert await spare.use(at_once) == WORD


async def test_only_so_many_wait_for_it() -> None:
    spare = SpareTime()
    with spare.person():
        waiting = [asyncio.create_task(spare.use(at_once)) for _ in range(MAX_WAITING + 1)]
        await asyncio.sleep(0)
        with pytest.raises(GaveWay):
            await spare.use(at_once)
    async with asyncio.timeout(5):
        assert await asyncio.gather(*waiting) == [WORD] * len(waiting)
