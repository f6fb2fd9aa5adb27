"""Idle work runs only while no person's answer runs or waits, and is preempted by one."""

import asyncio

import pytest

from hitsend.engine import Preempted, Prompt
from hitsend.engine.idle_queue import MAX_WAITING, IdleQueue

RESULT = "done"


def prompt(*ids: int, model: str = "tiny") -> Prompt:
    return Prompt(model, len(ids), 100, True, (), ids)


async def at_once() -> str:
    return RESULT


async def for_ever() -> str:
    await asyncio.Event().wait()
    return RESULT


async def test_work_runs_while_the_engine_is_idle() -> None:
    assert await IdleQueue().run(at_once) == RESULT


async def test_work_waits_for_the_last_foreground_answer() -> None:
    queue = IdleQueue()
    with queue.foreground():
        with queue.foreground():
            waiting = asyncio.create_task(queue.run(at_once))
        await asyncio.sleep(0)
        assert not waiting.done()
    async with asyncio.timeout(5):
        assert await waiting == RESULT


async def test_work_that_cannot_wait_is_refused_at_once() -> None:
    queue = IdleQueue()
    with queue.foreground(), pytest.raises(Preempted):
        await queue.run(at_once, can_wait=False)
    running = asyncio.create_task(queue.run(for_ever))
    await asyncio.sleep(0)
    with pytest.raises(Preempted):
        await queue.run(at_once, can_wait=False)
    running.cancel()


async def test_a_foreground_answer_cancels_the_work() -> None:
    queue = IdleQueue()
    running = asyncio.create_task(queue.run(for_ever))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        with queue.foreground():
            await queue.preempt(prompt(1))
            with pytest.raises(Preempted):
                await running


async def test_a_prefill_of_the_same_prompt_finishes_its_step_and_stops() -> None:
    queue, step = IdleQueue(), asyncio.Event()

    async def prefill() -> str:
        await step.wait()
        return "stopped" if queue.is_preempted else RESULT

    running = asyncio.create_task(queue.run(prefill, prefills=prompt(1, 2)))
    await asyncio.sleep(0)
    with queue.foreground():
        ending = asyncio.create_task(queue.preempt(prompt(1, 2, 3)))
        await asyncio.sleep(0)
        assert not ending.done()
        step.set()
        async with asyncio.timeout(5):
            await ending
            assert await running == "stopped"


async def test_a_prefill_is_cancelled_by_a_second_answer_with_another_prompt() -> None:
    queue = IdleQueue()
    running = asyncio.create_task(queue.run(for_ever, prefills=prompt(1, 2)))
    await asyncio.sleep(0)
    with queue.foreground():
        ending = asyncio.create_task(queue.preempt(prompt(1, 2, 3)))
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.wait([ending])
    async with asyncio.timeout(5):
        with queue.foreground():
            await queue.preempt(prompt(7))
        with pytest.raises(Preempted):
            await running


@pytest.mark.parametrize("read", [prompt(1, 3), prompt(1, 2, 3, 4), prompt(1, 2, model="other")])
async def test_a_prefill_of_another_prompt_is_cancelled(read: Prompt) -> None:
    queue = IdleQueue()
    running = asyncio.create_task(queue.run(for_ever, prefills=read))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        with queue.foreground():
            await queue.preempt(prompt(1, 2, 3))
        with pytest.raises(Preempted):
            await running


async def test_work_runs_one_at_a_time_in_order() -> None:
    queue, gate, order = IdleQueue(), asyncio.Event(), list[str]()

    async def record(word: str) -> None:
        order.append(word)
        await gate.wait()

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(queue.run(lambda: record("first")))
        group.create_task(queue.run(lambda: record("second")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert order == ["first"]
        gate.set()
    assert order == ["first", "second"]


async def test_cancelling_the_caller_cancels_the_work() -> None:
    queue = IdleQueue()
    running = asyncio.create_task(queue.run(for_ever))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    async with asyncio.timeout(5):
        assert await queue.run(at_once) == RESULT


async def test_a_caller_cancelled_twice_does_not_block_an_answer() -> None:
    async def stubborn() -> str:
        try:
            return await for_ever()
        finally:
            await may_end.wait()

    queue, may_end = IdleQueue(), asyncio.Event()
    running = asyncio.create_task(queue.run(stubborn, prefills=prompt(1)))
    for _ in range(2):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running.cancel()
    await asyncio.wait([running])
    async with asyncio.timeout(5):
        with queue.foreground():
            await queue.preempt(prompt(1, 2))
    may_end.set()


async def test_an_error_in_the_work_reaches_the_caller() -> None:
    async def fail() -> str:
        raise LookupError

    queue = IdleQueue()
    with pytest.raises(LookupError):
        await queue.run(fail)
    assert await queue.run(at_once) == RESULT


async def test_the_queue_is_bounded() -> None:
    queue = IdleQueue()
    with queue.foreground():
        waiting = [asyncio.create_task(queue.run(at_once)) for _ in range(MAX_WAITING + 1)]
        await asyncio.sleep(0)
        with pytest.raises(Preempted):
            await queue.run(at_once)
    async with asyncio.timeout(5):
        assert await asyncio.gather(*waiting) == [RESULT] * len(waiting)
