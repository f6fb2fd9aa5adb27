"""Stopped and started again: everything is there. Started twice: the second one says no."""

from contextlib import AsyncExitStack

import pytest
from tests.server.world import World

from hitsend.engine import ScriptedEngine
from hitsend.errors import Unavailable
from hitsend.server.app import open_house
from hitsend.server.serving import listening
from hitsend.settings import Settings


async def test_after_a_restart_everything_is_there(settings: Settings) -> None:
    async with AsyncExitStack() as clients:
        async with open_house(settings, ScriptedEngine()) as house, listening(house) as url:
            ada = await World(house, url, clients).someone("ada")
            heard = await ada.send("!script\nstill here")
        async with open_house(settings, ScriptedEngine()) as house, listening(house) as url:
            response = await ada.http.get(f"{url}/backend-api/conversation/{heard.conversation_id}")
    assert heard.answer
    assert response.json()["mapping"][heard.answer["id"]]["message"] == heard.answer


async def test_two_servers_do_not_share_a_data_directory(world: World, settings: Settings) -> None:
    with pytest.raises(Unavailable, match="Another hitsend"):
        async with open_house(settings, ScriptedEngine()):
            raise AssertionError("it started")
    ada = await world.someone("ada")
    assert (await ada.send("!script\nunharmed")).text == "unharmed"
