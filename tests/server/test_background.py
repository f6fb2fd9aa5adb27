"""What the house does by itself, whether anybody asks or not."""

import asyncio

import pytest

from hitsend.server.app import kept_running


async def test_what_a_bug_stopped_is_logged_and_begun_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun: asyncio.Queue[None] = asyncio.Queue()

    async def forever() -> None:
        await begun.put(None)
        raise ZeroDivisionError("a bug")

    running = asyncio.create_task(kept_running(forever, again_s=0.001))
    async with asyncio.timeout(5):
        for _ in range(3):
            await begun.get()
    running.cancel()
    await asyncio.wait([running])
    assert "ZeroDivisionError: a bug" in caplog.text
