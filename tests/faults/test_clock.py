"""A wall clock that jumps: events are ordered by number, and expiry and limits still work."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from tests.faults.history import SEND, CharacterCount, History
from tests.faults.process import key_in, serve_process
from tests.server.world import message

from hitsend.store import Limit, Store

HOUR_S = 3600.0
TO_2038_S = 2**31 - time.time()
"""Shortly after the time that no longer fits into 32 bits."""

SHIFTS = [HOUR_S, -HOUR_S, -10.0, TO_2038_S]
MODULE = "tests.faults.shifted_clock"


class Clock:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.shift(0)

    def shift(self, seconds: float) -> None:
        self.file.with_suffix(".new").write_text(str(seconds))
        self.file.with_suffix(".new").replace(self.file)


@asynccontextmanager
async def by_clock(
    data_dir: Path, *, requests_per_minute: int | None = None
) -> AsyncGenerator[tuple[Clock, httpx2.AsyncClient]]:
    key, clock = await key_in(data_dir), Clock(data_dir / "shift")
    if requests_per_minute is not None:
        store = await Store.open(data_dir / "hitsend.db")
        await store.limits.set("everyone", "", Limit(requests_per_minute=requests_per_minute))
        await store.close()
    environment = {"SHIFT_FILE": str(clock.file)}
    async with (
        serve_process(data_dir, environment, MODULE) as served,
        served.as_user(key) as http,
    ):
        yield clock, http


async def test_a_clock_that_jumps_loses_nothing_and_changes_no_order(tmp_path: Path) -> None:
    async with by_clock(tmp_path) as (clock, http):
        first = History.of("!script\nthe first answer")
        await first.send(http)
        here, sent = await first.check(http), [first.message_id]
        for seconds in SHIFTS:
            await check_jump(http, clock, seconds)
            later = History.of("!script\na later one")
            place = {"conversation_id": here.conversation_id, "parent_message_id": here.answer_id}
            later.body |= place
            await later.send(http)
            sent.append(later.message_id)
            path = f"/backend-api/conversation/{here.conversation_id}/stream_status"
            newest = (await http.get(path)).json()["turn_exchange_id"]
            assert newest == later.turn_id, f"by {seconds} s: the newest is the one begun last"
            assert (await later.read_stored(http)).user_ids == sent


async def check_jump(http: httpx2.AsyncClient, clock: Clock, seconds: float) -> None:
    """Shifts the clock in the middle of an answer. Tokens issued before stay valid, and nothing
    runs twice."""
    history = History.of("!script tokens=60 pace=10ms", CharacterCount(enough=1))
    listening = asyncio.create_task(history.send(http))
    await history.received.has_enough.wait()
    assert history.stream
    token = history.stream.of_type("resume_conversation_token")["token"]
    clock.shift(seconds)
    body = {"conversation_id": history.stream.conversation_id, "offset": 0}
    resumed = await http.post(f"{SEND}/resume", json=body, headers={"x-conduit-token": token})
    assert resumed.status_code == (401 if seconds == TO_2038_S else 200)
    await listening
    again = History(history.body)
    await again.send(http)
    assert (again.status, again.turn_id) == (200, history.turn_id), "it is said once"
    stored = await history.check(http)
    assert stored.ending == "stop"


async def test_a_clock_jump_does_not_bypass_a_limit(tmp_path: Path) -> None:
    async with by_clock(tmp_path, requests_per_minute=3) as (clock, http):
        for _ in range(3):
            assert (await http.post(SEND, json=message("!script\nyes"))).status_code == 200
        for seconds in (0, *SHIFTS):
            clock.shift(seconds)
            refused = await http.post(SEND, json=message("no"))
            assert refused.status_code == 429
            assert 0 < int(refused.headers["retry-after"]) <= 60
