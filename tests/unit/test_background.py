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


async def test_wishes_are_fulfilled_in_their_order_one_at_a_time(background: Background) -> None:
    done: list[str] = []

    async def one(name: str) -> None:
        await asyncio.sleep(0)
        done.append(name)

    for name in "abc":
        background.want(name, partial(one, name))
    await background.until_idle()
    assert done == ["a", "b", "c"]


async def test_a_newer_wish_takes_the_place_of_one_that_has_not_begun(
    background: Background,
) -> None:
    done: list[int] = []

    async def one(number: int) -> None:
        done.append(number)

    background.want("a", lambda: one(1))
    background.want("a", lambda: one(2))
    await background.until_idle()
    assert done == [2]


async def test_a_wish_that_fails_is_forgotten_and_the_next_is_fulfilled() -> None:
    background, done = Background(), list[str]()

    async def fail() -> None:
        raise KeyError

    async def one() -> None:
        done.append("b")

    background.want("a", fail)
    background.want("b", one)
    with pytest.raises(KeyError):
        await background.run()
    running = asyncio.create_task(background.run())
    await background.until_idle()
    running.cancel()
    assert done == ["b"]
