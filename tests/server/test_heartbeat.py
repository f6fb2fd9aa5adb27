"""A silent stream sends heartbeats."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.world import World

from hitsend.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, engine="scripted", port=0, heartbeat_s=0.02)


TOOL: Any = {"type": "function", "function": {"name": "weather"}}


async def test_a_silent_answer_sends_comments_that_no_reader_sees(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script first=200ms\nat last")
    assert b"\n: ping " in stream.raw
    assert stream.text == "at last"


async def test_tokens_that_cannot_be_shown_yet_do_not_silence_the_heartbeat(world: World) -> None:
    """Spaces between a tag and its call: only the call shows whether it is one."""
    ada = await world.someone("ada")
    spaces = " " * 300
    asked = f"!script pace=1ms\n<tool_call>{spaces}{{}}</tool_call>"
    async with httpx2.AsyncClient(base_url=world.url) as http:
        response = await http.post(
            "/v1/chat/completions",
            json={
                "model": "auto",
                "messages": [{"role": "user", "content": asked}],
                "tools": [TOOL],
                "stream": True,
            },
            headers={"authorization": f"Bearer {ada.key}"},
        )
    assert ": ping" in response.text
    assert spaces not in response.text
