"""What the house does by itself, whether anybody asks or not."""

import asyncio
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from tests.server.talking import talking

from hitsend.engine import WordHashes
from hitsend.send import Send
from hitsend.server.app import kept_running
from hitsend.turn import run_turn


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


async def test_nobodys_learning_waits_for_a_busy_engine(tmp_path: Path) -> None:
    async with talking(tmp_path, 1_000) as talk:
        services, runner = talk.house.services, talk.house.runner
        eve = await services.store.accounts.create("eve", "", "member")
        hanging = Send(user_id=eve.id, text="!script hang=1\nEndless", message_id=str(uuid4()))
        await runner.start(eve.id, run_turn(hanging, services))
        for number in range(20):
            await talk.say(f"!script\nQuite so.\nChapter {number} " + "took a while to tell " * 5)
        await services.store.memories.add(eve.id, "I am allergic to peanuts.", "written")
        learn = partial(services.recall.learn_memories, eve.id)
        services.background.want(f"memories:{eve.id}", learn)
        async with asyncio.timeout(5):
            await services.background.until_idle()
        assert await services.store.memories.unseen(eve.id, WordHashes.name, 1) == {}
