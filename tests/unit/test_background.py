import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from itertools import pairwise

import pytest

from hitsend.background import REST_S, Background


@pytest.fixture
async def background() -> AsyncGenerator[Background]:
    background = Background()
    running = asyncio.create_task(background.run())
    yield background
    running.cancel()
    await asyncio.wait([running])


async def test_jobs_run_in_order_one_at_a_time(background: Background) -> None:
    done: list[str] = []

    async def one(name: str) -> None:
        await asyncio.sleep(0)
        done.append(name)

    for name in "abc":
        background.schedule(name, partial(one, name))
    await background.until_idle()
    assert done == ["a", "b", "c"]


async def test_a_newer_job_replaces_one_of_the_same_name_that_has_not_started(
    background: Background,
) -> None:
    done: list[int] = []

    async def one(number: int) -> None:
        done.append(number)

    background.schedule("a", lambda: one(1))
    background.schedule("a", lambda: one(2))
    await background.until_idle()
    assert done == [2]


async def test_a_failed_job_is_dropped_and_the_next_one_runs() -> None:
    background, done = Background(), list[str]()

    async def fail() -> None:
        raise KeyError

    async def one() -> None:
        done.append("b")

    background.schedule("a", fail)
    background.schedule("b", one)
    with pytest.raises(KeyError):
        await background.run()
    running = asyncio.create_task(background.run())
    await background.until_idle()
    running.cancel()
    assert done == ["b"]


async def test_a_job_with_more_to_do_lets_the_others_run_first_and_rests(
    background: Background,
) -> None:
    done: list[str] = []

    async def long() -> bool:
        done.append("long")
        return done.count("long") < 3

    async def short() -> None:
        done.append("short")

    background.schedule("a", long)
    background.schedule("b", short)
    await background.until_idle()
    assert done == ["long", "short", "long", "long"]


async def test_between_the_portions_of_a_job_the_queue_rests(background: Background) -> None:
    started_at: list[float] = []
    is_done = asyncio.Event()

    async def long() -> bool:
        started_at.append(asyncio.get_running_loop().time())
        if len(started_at) == 3:
            is_done.set()
        return not is_done.is_set()

    background.schedule("a", long)
    await is_done.wait()
    assert all(later - at >= 0.9 * REST_S for at, later in pairwise(started_at))


async def test_a_newer_job_replaces_one_that_would_run_again(background: Background) -> None:
    done: list[str] = []

    async def new() -> None:
        done.append("new")

    async def old() -> bool:
        done.append("old")
        background.schedule("a", new)
        return True

    background.schedule("a", old)
    await background.until_idle()
    assert done == ["old", "new"]
