"""On a stop signal hitsend lets answers finish, for a while; then it cuts them, tells every reader,
and exits."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
from tests.faults.history import SEND, CharacterCount, History
from tests.faults.process import Served, app_in, key_in, serve_process
from tests.server.pages import open_socket
from tests.server.world import message

ENDLESS = "!script tokens=100000 pace=5ms"
SOON = "!script tokens=80 pace=10ms"


class RunningAnswers(NamedTuple):
    """A server with running answers whose streams have all started."""

    served: Served
    http: httpx2.AsyncClient
    histories: list[History]
    listening: asyncio.Future[list[None]]


@asynccontextmanager
async def start_answers(
    data_dir: Path, drain_s: float, *texts: str
) -> AsyncGenerator[RunningAnswers]:
    key, environment = await key_in(data_dir), {"HITSEND_DRAIN_S": str(drain_s)}
    histories = [History.of(text, CharacterCount(enough=1)) for text in texts]
    async with (
        serve_process(data_dir, environment) as served,
        served.as_user(key) as http,
        asyncio.timeout(90),
    ):
        listening = asyncio.gather(*(one.send(http) for one in histories))
        for history in histories:
            await history.received.has_enough.wait()
        yield RunningAnswers(served, http, histories, listening)
        assert await served.process.wait() == 0
    async with app_in(data_dir) as world:
        http = await world.browser()
        http.headers["authorization"] = f"Bearer {key}"
        for history in histories:
            assert (await history.read_stored(http)).text == history.text
            assert (await history.read_stored(http)).has_ended


async def draining(http: httpx2.AsyncClient) -> httpx2.Response:
    while (response := await http.get("/readyz")).status_code == 200:
        continue
    return response


async def test_draining_finishes_running_answers_and_refuses_new_ones(tmp_path: Path) -> None:
    async with start_answers(tmp_path, 60, SOON, SOON, ENDLESS) as (
        served,
        http,
        histories,
        listening,
    ):
        served.process.send_signal(signal.SIGTERM)
        ready = await draining(http)
        assert (ready.status_code, ready.json()["status"]) == (503, "draining")
        assert (await http.get("/healthz")).status_code == 200
        late = await http.post(SEND, json=message("too late"))
        assert late.status_code == 503
        assert int(late.headers["retry-after"]) > 0
        endless = histories[2].stream
        assert endless
        stop = {"conversation_id": endless.conversation_id}
        await http.post("/backend-api/stop_conversation", json=stop)
        await listening
    assert [read_end(one) for one in histories[:2]] == ["finished_successfully"] * 2


async def test_answers_that_outlast_the_drain_are_cut_and_readers_know(
    tmp_path: Path,
) -> None:
    async with start_answers(tmp_path, 0.3, ENDLESS, SOON, ENDLESS) as (
        served,
        http,
        histories,
        listening,
    ):
        served.process.send_signal(signal.SIGTERM)
        await listening
    assert all(one.is_whole for one in histories)
    assert [read_end(one) for one in histories][::2] == ["interrupted"] * 2


async def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    async with start_answers(tmp_path, 600, ENDLESS) as (served, http, histories, listening):
        served.process.send_signal(signal.SIGTERM)
        await draining(http)
        served.process.send_signal(signal.SIGTERM)
        await listening
    assert [read_end(one) for one in histories] == ["interrupted"]


async def test_a_page_on_a_socket_gets_the_end_and_the_restart_code(tmp_path: Path) -> None:
    async with start_answers(tmp_path, 0.2, ENDLESS) as (served, http, histories, listening):
        ticket = (await http.get("/backend-api/celsius/ws/user")).json()["websocket_url"]
        async with open_socket(ticket) as page:
            await page.request_reply("connect")
            follower = await page.follow(f"conversation-turn-{histories[0].turn_id}")
            served.process.send_signal(signal.SIGTERM)
            while not follower.is_complete:  # sends no acks: the socket may be closed
                follower.take(await page.next("message", "snapshot"))
            assert await page.wait_closed() == 1012
        await listening
    assert follower.of_type("message_stream_complete")["status"] == "interrupted"
    assert follower.text == histories[0].text


def read_end(history: History) -> str:
    assert history.stream
    return str(history.stream.of_type("message_stream_complete")["status"])
