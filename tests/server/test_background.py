"""Background work that no request starts."""

import asyncio
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from tests.server.direct_chat import open_direct_chat

from hitsend.engine import WordHashes
from hitsend.send import Send
from hitsend.server.app import restart_forever
from hitsend.turn import run_turn


async def test_a_background_loop_restarts_after_a_bug_and_logs_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun: asyncio.Queue[None] = asyncio.Queue()

    async def forever() -> None:
        await begun.put(None)
        raise ZeroDivisionError("a bug")

    running = asyncio.create_task(restart_forever(forever, restart_delay_s=0.001))
    async with asyncio.timeout(5):
        for _ in range(3):
            await begun.get()
    running.cancel()
    await asyncio.wait([running])
    assert "ZeroDivisionError: a bug" in caplog.text


async def test_indexing_does_not_wait_for_a_busy_engine(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1_000) as chat:
        services, runner = chat.app.services, chat.app.runner
        eve = await services.store.accounts.create("eve", "", "member")
        hanging = Send(user_id=eve.id, text="!script hang=1\nEndless", message_id=str(uuid4()))
        await runner.start(eve.id, run_turn(hanging, services))
        for number in range(20):
            await chat.send(f"!script\nQuite so.\nChapter {number} " + "took a while to tell " * 5)
        await services.store.memories.add(eve.id, "I am allergic to peanuts.", "written")
        learn = partial(services.recall.embed_memories, eve.id)
        services.background.schedule(f"memories:{eve.id}", learn)
        async with asyncio.timeout(5):
            await services.background.until_idle()
        assert await services.store.memories.without_vectors(eve.id, WordHashes.name, 1) == {}
