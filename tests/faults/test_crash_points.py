"""Killed at each step of a Send: the message is stored whole or not at all, and once."""

import asyncio
import signal
from pathlib import Path
from typing import get_args

import httpx2
import pytest
from tests.faults.history import History
from tests.faults.process import app_in, key_in, serve_process

from hitsend.crash import MessagePoint, Point

TEXT = "What was said before the light went out."
ASKED = f"!script first=200ms pace=2ms\n{TEXT}"

UNTOLD: frozenset[Point] = frozenset({"inserted", "accepted"})
"""The client got no acknowledgement and has to send again."""


@pytest.mark.parametrize("point", get_args(MessagePoint))
async def test_a_message_survives_a_crash_at_any_point(tmp_path: Path, point: Point) -> None:
    await survive(tmp_path, point)


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize("point", get_args(MessagePoint))
async def test_a_message_survives_many_crashes_at_any_point(tmp_path: Path, point: Point) -> None:
    for num in range(5):
        data_dir = tmp_path / str(num)
        data_dir.mkdir()
        await survive(data_dir, point)


async def survive(data_dir: Path, point: Point) -> None:
    key, history = await key_in(data_dir), History.of(ASKED)
    async with (
        serve_process(data_dir, {"HITSEND_CRASH_AT": point}) as served,
        served.as_user(key) as http,
    ):
        async with asyncio.timeout(30):
            await history.send(http)
            assert await served.process.wait() == -signal.SIGKILL
    assert (history.stream is None) == (point in UNTOLD)
    shown = history.text
    async with app_in(data_dir) as world:
        http = await world.browser()
        http.headers["authorization"] = f"Bearer {key}"
        was_there = await num_conversations(http) == 1
        assert was_there == (point != "inserted"), "what is not whole must not be there"
        if history.stream is None:
            await history.send(http)
        stored = await history.check(http)
        again = History(history.body)
        await again.send(http)
        assert again.turn_id == history.turn_id
        assert await num_conversations(http) == 1
    assert stored.text.startswith(shown)
    assert TEXT.startswith(stored.text)
    is_whole = point in ("inserted", "after-final")
    assert stored.ending == ("stop" if is_whole else "interrupted")
    assert (stored.text == TEXT) >= is_whole


async def num_conversations(http: httpx2.AsyncClient) -> int:
    return len((await http.get("/backend-api/conversations")).json()["items"])
