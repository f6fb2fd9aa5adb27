import asyncio
from collections.abc import AsyncGenerator
from functools import partial

import pytest

from hitsend.background import Background


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
