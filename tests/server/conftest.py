"""A world for each test: the real app on a real socket, a real database, a scripted engine."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.server.world import World

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_house
from hitsend.server.serving import listening
from hitsend.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, found: Callable[[Path], Path]) -> Settings:
    database = found(tmp_path / "data")
    return Settings(data_dir=database.parent, engine="scripted", port=0)


@pytest.fixture
async def world(settings: Settings) -> AsyncGenerator[World]:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(open_house(settings, ScriptedEngine()))
        url = await stack.enter_async_context(listening(house))
        clients = await stack.enter_async_context(AsyncExitStack())
        yield World(house, url, clients)
