"""An engine that dies, hangs, fails or is down: its answers report it and keep their text, and
others are not affected.

Killing a real model's process is tested in tests/engine; garbage from a remote engine, in
tests/unit/engine.
"""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.faults.history import CharacterCount, History
from tests.faults.process import app_in
from tests.server.world import World

WELL = "!script tokens=60 pace=10ms"
DIES = "!script tokens=60 pace=5ms die=20"
HANGS = "!script tokens=60 pace=5ms hang=20"
IS_DOWN = "!script tokens=60 error"
NUM_OF_EACH = 5


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with app_in(tmp_path) as world:
        yield world


async def test_an_engine_failure_ends_only_its_own_turns_and_keeps_their_text(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    well = [History.of(WELL) for _ in range(NUM_OF_EACH)]
    failing = [History.of(text) for text in (DIES, IS_DOWN) for _ in range(NUM_OF_EACH)]
    hanging = [History.of(HANGS, CharacterCount(enough=1)) for _ in range(NUM_OF_EACH)]
    async with asyncio.timeout(30):
        stuck = asyncio.gather(*(one.send(eve.http) for one in hanging))
        await asyncio.gather(*(one.send(ada.http) for one in (*well, *failing)))
        for one in hanging:
            await one.received.has_enough.wait()
            await eve.http.post("/backend-api/stop_conversation", json=conversation_of(one))
        await stuck
    for history in well:
        assert (await history.check(ada.http)).ending == "stop"
    for history in failing:
        assert (await history.check(ada.http)).ending == "failed"
    for history in hanging:
        stored = await history.check(eve.http)
        assert stored.ending == "stopped"
        assert stored.text
    assert world.app.services.engine.status().num_busy_slots == 0


@pytest.mark.parametrize(("text", "code"), [(DIES, "worker_lost"), (IS_DOWN, "engine_down")])
async def test_an_engine_failure_is_reported_and_the_answer_can_be_regenerated(
    world: World, text: str, code: str
) -> None:
    ada = await world.someone("ada")
    history = History.of(text)
    await history.send(ada.http)
    assert history.stream
    assert history.stream.of_type("error")["error"]["code"] == code
    stored = await history.check(ada.http)
    better = await ada.send(
        "!script\nbetter now",
        conversation_id=stored.conversation_id,
        parent_message_id=stored.answer_id,
    )
    assert better.text == "better now"


def conversation_of(history: History) -> dict[str, str]:
    assert history.stream
    return {"conversation_id": history.stream.conversation_id}
