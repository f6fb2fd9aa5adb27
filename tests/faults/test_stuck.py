"""Clients that do not read, or hardly: others get everything; the stuck ones are dropped, can
resume, and leak nothing."""

import asyncio
import logging
import select
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.faults.history import SEND, CharacterCount, History
from tests.faults.process import Served, key_in, serve_process

log = logging.getLogger(__name__)

ANSWER = " " + "🌊" * 8
NUM_TOKENS = 7_000
LONG = f"!script tokens={NUM_TOKENS} batch=100 pace={{pace}}ms\n{ANSWER}"
"""231 kB, more than any socket buffer holds. Slow enough for all readers to connect meanwhile."""
SHORT = "!script tokens=40 pace=20ms"
MOST_HELD_KB = 256
"""Per stuck reader."""


async def test_stuck_readers_are_dropped_and_others_get_everything(tmp_path: Path) -> None:
    await stuck(tmp_path, "tests.faults.short_timeouts", num_people=1, patience_s=20)


@pytest.mark.soak
@pytest.mark.timeout(400)
async def test_five_hundred_readers_are_stuck_for_a_minute(tmp_path: Path) -> None:
    await stuck(tmp_path, "hitsend", num_people=25, patience_s=90)


async def stuck(data_dir: Path, module: str, num_people: int, patience_s: float) -> None:
    keys = [await key_in(data_dir, f"person {number}") for number in range(num_people)]
    async with (
        serve_process(data_dir, {"HITSEND_MAX_ANSWER_TOKENS": "8000"}, module) as served,
        served.as_user(keys[0]) as http,
        asyncio.timeout(patience_s + 120),
    ):
        await run_readers(served, keys, num_deaf=0)  # fills caches first
        num_sockets, num_kb = served.num_sockets(), served.num_resident_kb()
        *deaf, slow = await run_readers(served, keys, num_deaf=20)
        reading = asyncio.create_task(read_a_byte_at_a_time(slow))
        await asyncio.gather(*(read_whole(http, SHORT) for _ in range(8)))
        held = (served.num_resident_kb() - num_kb) / len(deaf)
        await asyncio.to_thread(wait_until_dropped, [*deaf, slow], patience_s)
        reading.cancel()
        for one in (*deaf, slow):
            one.close()
        while served.num_sockets() > num_sockets:
            await http.get("/healthz")
        await read_whole(http, SHORT)
        left = (served.num_resident_kb() - num_kb) / len(deaf)
        log.warning("%d stuck: %.0f kB each, and %.0f kB afterwards", len(deaf), held, left)
        assert num_people == 1 or held <= MOST_HELD_KB, "of so many it can be told"


async def run_readers(served: Served, keys: list[str], num_deaf: int) -> list[socket.socket]:
    pace = 0.3 if len(keys) == 1 else 1
    lines = await asyncio.gather(
        *(follow_without_reading(served, key, num_deaf, pace) for key in keys)
    )
    return [line for theirs in lines for line in theirs]


async def follow_without_reading(
    served: Served, key: str, num_deaf: int, pace: float
) -> list[socket.socket]:
    """Connections that follow an answer without reading it. One of them resumes."""
    async with served.as_user(key) as http:
        long = History.of(LONG.format(pace=pace), CharacterCount(enough=1))
        listening = asyncio.create_task(long.send(http))
        await long.received.has_enough.wait()
        deaf = [await send_request(served, key, long.turn_id) for _ in range(num_deaf)]
        await listening
        assert (await long.check(http)).stored_text == ANSWER * NUM_TOKENS
        back = History(long.body)
        await back.send(http)
        assert back.text == long.text, "whoever comes back reads all of it"
        return deaf


async def read_whole(http: httpx2.AsyncClient, text: str) -> None:
    history = History.of(text)
    await history.send(http)
    assert history.is_whole
    assert (await history.check(http)).ending == "stop"


async def send_request(served: Served, key: str, turn_id: str) -> socket.socket:
    """With small socket buffers, so that the server soon has to wait."""
    line, address = socket.socket(), urlsplit(served.url)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(line, (address.hostname, address.port))
    path = f"{SEND}/{turn_id}/events"
    headers = f"host: {address.netloc}\r\nauthorization: Bearer {key}\r\n"
    await loop.sock_sendall(line, f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode())
    return line


async def read_a_byte_at_a_time(line: socket.socket) -> None:
    """Reads until it is dropped: at this pace the answer would take days."""
    loop = asyncio.get_running_loop()
    with suppress(ConnectionError):
        while True:
            if not await loop.sock_recv(line, 1):
                return
            await asyncio.sleep(0.05)


def wait_until_dropped(lines: list[socket.socket], patience_s: float) -> None:
    """Reads nothing."""
    poll, waiting = select.poll(), {line.fileno() for line in lines}
    for line in lines:
        poll.register(line, 0)
    while waiting:
        dropped = poll.poll(1000 * patience_s)
        assert dropped, f"{len(waiting)} are still connected"
        for file, _ in dropped:
            poll.unregister(file)
            waiting.discard(file)
