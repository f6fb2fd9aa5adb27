"""After a restart everything is there. A second server in the same directory is refused."""

from contextlib import AsyncExitStack

import pytest
from tests.server.world import World

from hitsend.engine import ScriptedEngine
from hitsend.errors import Unavailable
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings


async def test_after_a_restart_everything_is_there(settings: Settings) -> None:
    async with AsyncExitStack() as clients:
        async with open_app(settings, ScriptedEngine()) as app, listen(app) as url:
            ada = await World(app, url, clients).someone("ada")
            stream = await ada.send("!script\nstill here")
        async with open_app(settings, ScriptedEngine()) as app, listen(app) as url:
            response = await ada.http.get(
                f"{url}/backend-api/conversation/{stream.conversation_id}"
            )
    assert stream.answer
    assert response.json()["mapping"][stream.answer["id"]]["message"] == stream.answer


async def test_two_servers_do_not_share_a_data_directory(world: World, settings: Settings) -> None:
    with pytest.raises(Unavailable, match="Another hitsend"):
        async with open_app(settings, ScriptedEngine()):
            raise AssertionError("it started")
    ada = await world.someone("ada")
    assert (await ada.send("!script\nunharmed")).text == "unharmed"
