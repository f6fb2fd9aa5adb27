"""hitsend in a process of its own with the scripted engine, as users run it; and in this
process."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx2
from tests.server.world import World

from hitsend.credentials import hash_token, key_prefix, new_key
from hitsend.engine import Engine, ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings
from hitsend.store import AccountRole, Store


@dataclass(frozen=True)
class Served:
    process: asyncio.subprocess.Process
    url: str
    log: Path
    start_s: float
    """From the start of the process until its address answers."""
    start_processor_s: float
    """The same in CPU time: the machine may be busy."""

    @asynccontextmanager
    async def as_user(self, key: str) -> AsyncGenerator[httpx2.AsyncClient]:
        headers = {"authorization": f"Bearer {key}"}
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx2.AsyncClient(
            base_url=self.url, headers=headers, limits=limits, timeout=30
        ) as http:
            yield http

    async def kill(self) -> None:
        """Kills without warning or flush."""
        self.process.kill()
        await self.process.wait()

    def num_resident_kb(self) -> float:
        statm = Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1000

    def num_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def num_sockets(self) -> int:
        files = Path(f"/proc/{self.process.pid}/fd").iterdir()
        return sum(file.is_socket() for file in files)


@asynccontextmanager
async def serve_process(
    data_dir: Path,
    environment: dict[str, str] | None = None,
    module: str = "hitsend",
    engine: str = "scripted",
    log_level: str = "debug",
) -> AsyncGenerator[Served]:
    """In a process group of its own."""
    log, began = data_dir / "log.txt", time.monotonic()
    with log.open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, "serve", "--engine", engine, "--port", "0",
            "--data-dir", str(data_dir), "--log-level", log_level,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": "src:.", "HITSEND_DRAIN_S": "0"} | (environment or {}),
        )  # fmt: skip
    try:
        address = await _address(process)
        took_s = time.monotonic() - began
        yield Served(process, address, log, took_s, _cpu_s(process.pid))
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.communicate()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout
    async with asyncio.timeout(30):
        while b"://" not in (line := await process.stdout.readline()):
            assert line, "it did not start"
    return line.split()[-1].decode()


def _cpu_s(pid: int) -> float:
    figures = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(figures[11]) + int(figures[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def app_in(data_dir: Path, engine: Engine | None = None) -> AsyncGenerator[World]:
    """Runs in this process, which starts faster and can be inspected."""
    settings = Settings(data_dir=data_dir, engine="scripted", port=0)
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, engine or ScriptedEngine()))
        url = await stack.enter_async_context(listen(app))
        clients = await stack.enter_async_context(AsyncExitStack())
        yield World(app, url, clients)


async def key_in(data_dir: Path, name: str = "ada", role: AccountRole = "member") -> str:
    """Creates an account and returns its key."""
    store = await Store.open(data_dir / "hitsend.db")
    user, key = await store.accounts.create(name, "", role), new_key()
    await store.accounts.create_key(user.id, hash_token(key), key_prefix(key), "")
    await store.close()
    return key


def message(text: str) -> dict[str, object]:
    said = {
        "id": str(uuid4()),
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": [text]},
    }
    return {"action": "next", "messages": [said], "supported_encodings": ["v1"]}
