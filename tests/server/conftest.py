"""A world for each test: the real app on a real socket, a real database, a scripted engine."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.server.world import World

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, copy_database: Callable[[Path], Path]) -> Settings:
    database = copy_database(tmp_path / "data")
    return Settings(data_dir=database.parent, engine="scripted", port=0)


@pytest.fixture
async def world(settings: Settings) -> AsyncGenerator[World]:
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, ScriptedEngine()))
        url = await stack.enter_async_context(listen(app))
        clients = await stack.enter_async_context(AsyncExitStack())
        yield World(app, url, clients)
