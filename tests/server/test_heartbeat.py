"""A silent stream sends heartbeats."""

from pathlib import Path

import pytest
from tests.server.world import World

from hitsend.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, engine="scripted", port=0, heartbeat_s=0.02)


async def test_a_silent_answer_sends_comments_that_no_reader_sees(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script first=200ms\nat last")
    assert b"\n: ping " in stream.raw
    assert stream.text == "at last"
