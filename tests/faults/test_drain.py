"""Asked to stop, hitsend lets answers end, for a while; then it cuts them, tells everyone why,
and goes."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
from tests.faults.history import SEND, History, Received
from tests.faults.process import Served, house_in, key_in, serving
from tests.server.pages import line_to
from tests.server.world import message

ENDLESS = "!script tokens=100000 pace=5ms"
SOON = "!script tokens=80 pace=10ms"


class Begun(NamedTuple):
    """A server with answers under way, all of which have begun to be heard."""

    served: Served
    http: httpx2.AsyncClient
    histories: list[History]
    listening: asyncio.Future[list[None]]


@asynccontextmanager
async def begun(data_dir: Path, drain_s: float, *texts: str) -> AsyncGenerator[Begun]:
    key, environment = await key_in(data_dir), {"HITSEND_DRAIN_S": str(drain_s)}
    histories = [History.of(text, Received(enough=1)) for text in texts]
    async with (
        serving(data_dir, environment) as served,
        served.as_owner_of(key) as http,
        asyncio.timeout(90),
    ):
        listening = asyncio.gather(*(one.send(http) for one in histories))
        for history in histories:
            await history.received.has_enough.wait()
        yield Begun(served, http, histories, listening)
        assert await served.process.wait() == 0
    async with house_in(data_dir) as world:
        http = await world.browser()
        http.headers["authorization"] = f"Bearer {key}"
        for history in histories:
            assert (await history.kept(http)).text == history.text
            assert (await history.kept(http)).has_ended


async def draining(http: httpx2.AsyncClient) -> httpx2.Response:
    while (response := await http.get("/readyz")).status_code == 200:
        continue
    return response


async def test_answers_that_end_in_time_end_well_and_no_new_ones_begin(tmp_path: Path) -> None:
    async with begun(tmp_path, 60, SOON, SOON, ENDLESS) as (served, http, histories, listening):
        served.process.send_signal(signal.SIGTERM)
        ready = await draining(http)
        assert (ready.status_code, ready.json()["status"]) == (503, "draining")
        assert (await http.get("/healthz")).status_code == 200
        late = await http.post(SEND, json=message("too late"))
        assert late.status_code == 503
        assert int(late.headers["retry-after"]) > 0
        endless = histories[2].heard
        assert endless
        stop = {"conversation_id": endless.conversation_id}
        await http.post("/backend-api/stop_conversation", json=stop)
        await listening
    assert [end_of(one) for one in histories[:2]] == ["finished_successfully"] * 2


async def test_answers_that_take_too_long_are_cut_and_their_readers_are_told(
    tmp_path: Path,
) -> None:
    async with begun(tmp_path, 0.3, ENDLESS, SOON, ENDLESS) as (served, http, histories, listening):
        served.process.send_signal(signal.SIGTERM)
        await listening
    assert all(one.is_whole for one in histories)
    assert [end_of(one) for one in histories][::2] == ["interrupted"] * 2


async def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    async with begun(tmp_path, 600, ENDLESS) as (served, http, histories, listening):
        served.process.send_signal(signal.SIGTERM)
        await draining(http)
        served.process.send_signal(signal.SIGTERM)
        await listening
    assert [end_of(one) for one in histories] == ["interrupted"]


async def test_a_page_on_a_socket_hears_the_end_and_that_hitsend_restarts(tmp_path: Path) -> None:
    async with begun(tmp_path, 0.2, ENDLESS) as (served, http, histories, listening):
        ticket = (await http.get("/backend-api/celsius/ws/user")).json()["websocket_url"]
        async with line_to(ticket) as page:
            await page.asked("connect")
            follower = await page.follow(f"conversation-turn-{histories[0].turn_id}")
            served.process.send_signal(signal.SIGTERM)
            while not follower.is_complete:  # acknowledges nothing: the line may be closed by now
                follower.take(await page.next("message", "snapshot"))
            assert await page.closed() == 1012
        await listening
    assert follower.of_type("message_stream_complete")["status"] == "interrupted"
    assert follower.text == histories[0].text


def end_of(history: History) -> str:
    assert history.heard
    return str(history.heard.of_type("message_stream_complete")["status"])
