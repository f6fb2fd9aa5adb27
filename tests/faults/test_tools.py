"""Killed while a tool runs: the call is closed, and does not run again by itself."""

import asyncio
import signal
from pathlib import Path
from typing import get_args

import pytest
from tests.faults.history import History
from tests.faults.process import app_in, key_in, serve_process

from hitsend.crash import ToolPoint

CALL = '<tool_call>{"name": "calculate", "arguments": {"expression": "6*7"}}</tool_call>'
ASKED = f"!script\nLet me see.\n{CALL}\n!then\nIt is 42."


@pytest.mark.parametrize("point", get_args(ToolPoint))
async def test_a_call_that_was_running_is_closed_after_a_crash(
    tmp_path: Path, point: ToolPoint
) -> None:
    key, history = await key_in(tmp_path), History.of(ASKED)
    history.body["system_hints"] = ["calculator"]
    async with (
        serve_process(tmp_path, {"HITSEND_CRASH_AT": point}) as served,
        served.as_user(key) as http,
    ):
        async with asyncio.timeout(30):
            await history.send(http)
            assert await served.process.wait() == -signal.SIGKILL
    assert history.stream is not None
    shown = [one["content"]["parts"][0] for one in history.stream.messages]
    async with app_in(tmp_path) as world:
        http = await world.browser()
        http.headers["authorization"] = f"Bearer {key}"
        again = History(history.body)
        await again.send(http)
        assert again.turn_id == history.turn_id
        assert again.stream is not None
        asked, answer, result = again.stream.messages
        assert [one["content"]["parts"][0] for one in (asked, answer)] == shown[:2]
        assert result["author"]["role"] == "tool"
        assert result["content"]["parts"][0] in ("", "6*7 = 42")
        log = (await http.get(f"/backend-api/turn/{again.turn_id}")).json()["events"]
        kinds = [one["event"]["type"] for one in log]
        assert kinds.count("ToolStarted") == 1
        assert kinds[-1] == "TurnFinished"
        assert log[-1]["event"]["ending"] == "interrupted"
        follow_up = {
            **History.of("!script\nGood.").body,
            "conversation_id": again.stream.conversation_id,
            "parent_message_id": result["id"],
        }
        after = History(follow_up)
        await after.send(http)
        assert after.text == "Good."
