"""A full disk: no word is shown that is not stored, and with free space everything recovers by
itself."""

import asyncio
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import openai
import pytest
from tests.faults.history import SEND, CharacterCount, History
from tests.faults.process import Served, key_in, serve_process
from tests.server.world import message

from hitsend.client import Client, StoreDelayed, TextAdded

NUM_STREAMS = 6
WAITS = "The server cannot save anything right now. The answer waits."
DISK_BYTES = 80_000_000
SLOW = "!script tokens=150 pace=10ms"
LONG = "!script tokens=800 pace=10ms"


class Full(NamedTuple):
    served: Served
    http: httpx2.AsyncClient
    histories: list[History]
    listening: asyncio.Future[list[None]]


def leave_room(served: Served, num_bytes: int) -> None:
    """Limits the size of the server's files. 0 is a full disk."""
    pid, limits = served.process.pid, (num_bytes, resource.RLIM_INFINITY)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


@asynccontextmanager
async def full(data_dir: Path, key: str, chance: random.Random) -> AsyncGenerator[Full]:
    """Answers are running, and the disk has just become full."""
    received = CharacterCount(enough=chance.uniform(10, NUM_STREAMS * 500))
    histories = [History.of(SLOW, received) for _ in range(NUM_STREAMS)]
    async with (
        asyncio.timeout(60),
        serve_process(data_dir) as served,
        served.as_user(key) as http,
    ):
        listening = asyncio.gather(*(one.send(http) for one in histories))
        await received.has_enough.wait()
        leave_room(served, 0)
        yield Full(served, http, histories, listening)


@pytest.mark.parametrize("seed", [1])
async def test_a_full_disk_acknowledges_nothing_and_recovers(tmp_path: Path, seed: int) -> None:
    await check_recovery(tmp_path, random.Random(seed))


async def test_programs_are_told_what_an_answer_waits_for(tmp_path: Path) -> None:
    """By a comment on streams of OpenAI's API, which its SDK takes; as an update by our client."""
    key = await key_in(tmp_path)
    asked: Any = {"model": "auto", "messages": [{"role": "user", "content": LONG}], "stream": True}
    async with (
        asyncio.timeout(100),
        serve_process(tmp_path, {"HITSEND_HEARTBEAT_S": "0.2"}) as served,
        served.as_user(key) as http,
        http.stream("POST", "/v1/chat/completions", json=asked) as raw,
        openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key=key) as sdk,
        Client(served.url, key) as client,
    ):
        pieces = raw.aiter_text()
        chunks = await sdk.chat.completions.create(**asked)
        reading = asyncio.create_task(read_chunks(chunks))
        updates = client.send(LONG)
        while not isinstance(await anext(updates), TextAdded):
            continue
        while '"content":' not in await anext(pieces):
            continue
        leave_room(served, 0)
        while WAITS not in await anext(pieces):
            continue
        while not isinstance(update := await anext(updates), StoreDelayed):
            continue
        assert update == StoreDelayed("store_down", WAITS)
        assert not reading.done()
        leave_room(served, resource.RLIM_INFINITY)
        assert (await updates.whole()).status == "finished_successfully"
        assert await reading == "stop"


async def read_chunks(chunks: openai.AsyncStream[Any]) -> str | None:
    """Returns how the answer ended."""
    ending = None
    async for chunk in chunks:
        ending = chunk.choices[0].finish_reason or ending
    return ending


@pytest.mark.parametrize("seed", [1])
async def test_killed_while_the_disk_is_full_nothing_shown_is_lost(
    tmp_path: Path, seed: int
) -> None:
    await check_kill_while_full(tmp_path, random.Random(seed))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200, 225))
async def test_the_disk_may_become_full_at_any_moment(tmp_path: Path, seed: int) -> None:
    for fault in (check_recovery, check_kill_while_full):
        data_dir = tmp_path / fault.__name__
        data_dir.mkdir()
        await fault(data_dir, random.Random(seed))


async def check_recovery(data_dir: Path, chance: random.Random) -> None:
    key = await key_in(data_dir)
    late = message("!script\nafter all")
    async with full(data_dir, key, chance) as (served, http, histories, listening):
        refused = await http.post(SEND, json=late)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "store_down"
        assert int(refused.headers["retry-after"]) > 0
        ready = await http.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["store"] == "down"
        assert ready.json()["detail"] == "The disk failed to read or write the database."
        assert (await http.get("/healthz")).status_code == 200
        leave_room(served, resource.RLIM_INFINITY)
        await listening
        assert all(one.is_whole for one in histories)
        for history in histories:
            assert (await history.check(http)).ending == "stop"
        accepted = History(late)
        await accepted.send(http)
        assert (await accepted.check(http)).text == "after all"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, which can really be full."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(words, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Writes a file until there is no room left, to the last byte."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return filler


async def send_until_refused(http: httpx2.AsyncClient) -> httpx2.Response:
    """SQLite has some room left in its own files."""
    while True:
        async with http.stream("POST", SEND, json=message("!script\n" + "word " * 1000)) as answer:
            if answer.status_code != 200:
                await answer.aread()
                return answer


async def test_on_a_really_full_disk_everyone_learns_why_and_answers_wait(
    small_disk: Path,
) -> None:
    key, received = await key_in(small_disk), CharacterCount(enough=200)
    history = History.of(LONG, received)
    async with (
        asyncio.timeout(100),
        serve_process(small_disk) as served,
        served.as_user(key) as http,
    ):
        assert (await http.get("/readyz")).status_code == 200
        listening = asyncio.create_task(history.send(http))
        await received.has_enough.wait()
        filler = fill(small_disk)
        refused = await send_until_refused(http)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "disk_full"
        while (ready := await http.get("/readyz")).status_code == 200:
            continue  # its result is up to a second old
        assert (ready.status_code, ready.json()["reason"]) == (503, "disk_full")
        assert (await http.get("/backend-api/status")).json()["store"] == "disk_full"
        assert not listening.done(), "the answer waits"
        filler.unlink()
        await listening
        assert history.is_whole
        assert (await history.check(http)).ending == "stop"
        while (await http.get("/readyz")).status_code != 200:
            continue


async def check_kill_while_full(data_dir: Path, chance: random.Random) -> None:
    key = await key_in(data_dir)
    async with full(data_dir, key, chance) as (served, http, histories, listening):
        assert (await http.post(SEND, json=message("hello"))).status_code == 503
        await served.kill()
        await listening
    async with serve_process(data_dir) as served, served.as_user(key) as http:
        for history in histories:
            await history.check(http)
        conversations = (await http.get("/backend-api/conversations")).json()["items"]
    assert len(conversations) == NUM_STREAMS, "what was refused is not there"


UNPRIVILEGED = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
"""Not as root, who may write anywhere."""


def forbid_writing(folder: Path) -> None:
    for path in [*folder.iterdir(), folder]:
        path.chmod(0o500 if path.is_dir() else 0o400)


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write anywhere"
)
async def test_an_unwritable_data_directory_is_reported(tmp_path: Path) -> None:
    await key_in(tmp_path)
    forbid_writing(tmp_path)
    process = await asyncio.create_subprocess_exec(
        *(UNPRIVILEGED if os.geteuid() == 0 else ()),
        sys.executable, "-m", "hitsend", "serve", "--engine", "scripted", "--port", "0",
        "--data-dir", str(tmp_path),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": "src"},
    )  # fmt: skip
    async with asyncio.timeout(30):
        said, _ = await process.communicate()
    assert process.returncode not in (0, None)
    assert b"Permission denied" in said
    assert b"Traceback" not in said
