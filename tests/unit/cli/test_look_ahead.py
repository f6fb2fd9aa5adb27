"""Updates are read on while the person is asked something."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from hitsend.cli.chat.look_ahead import LookAhead
from hitsend.client import Disconnected, TextAdded, Update

ONE, TWO, THREE = (TextAdded("m", text) for text in ("one", "two", "three"))


async def updates(*given: Update, then: Exception | None = None) -> AsyncGenerator[Update, None]:
    for update in given:
        yield update
    if then is not None:
        raise then


async def forever() -> str:
    await asyncio.Event().wait()
    return ""


async def test_what_comes_during_a_question_follows_it() -> None:
    ahead = LookAhead(updates(ONE, TWO, THREE))
    assert await anext(ahead) == ONE
    replying: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def reply_at_two(update: Update) -> bool:
        if update == TWO:
            replying.set_result("yes")
        return False

    assert await ahead.wait_for(replying, reply_at_two) == "yes"
    assert [update async for update in ahead] == [TWO, THREE]
    await ahead.aclose()


async def test_a_question_that_is_settled_elsewhere_ends() -> None:
    ahead = LookAhead(updates(ONE, TWO))
    asking = asyncio.ensure_future(forever())
    assert await ahead.wait_for(asking, lambda update: update == ONE) is None
    assert asking.cancelled()
    assert [update async for update in ahead] == [ONE, TWO]


async def test_the_end_of_the_answer_leaves_the_question_open() -> None:
    ahead = LookAhead(updates(ONE))
    replying: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
    waiting = asyncio.ensure_future(ahead.wait_for(replying, lambda _: False))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    replying.set_result("yes")
    assert await waiting == "yes"
    assert [update async for update in ahead] == [ONE]


async def test_an_error_is_raised_after_the_question() -> None:
    ahead = LookAhead(updates(ONE, then=Disconnected("gone")))
    replying: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
    waiting = asyncio.ensure_future(ahead.wait_for(replying, lambda _: False))
    for _ in range(20):
        await asyncio.sleep(0)
    replying.set_result("yes")
    assert await waiting == "yes"
    assert await anext(ahead) == ONE
    with pytest.raises(Disconnected):
        await anext(ahead)


async def test_closing_ends_a_reader_that_waits() -> None:
    async def endless() -> AsyncGenerator[Update, None]:
        yield ONE
        await asyncio.Event().wait()

    ahead = LookAhead(endless())
    replying: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
    waiting = asyncio.ensure_future(ahead.wait_for(replying, lambda _: False))
    for _ in range(20):
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(10):
        await ahead.aclose()
