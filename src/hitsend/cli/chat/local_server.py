"""A server process that runs as long as the chat."""

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hitsend.cli.chat.keyring import private_file
from hitsend.errors import Unavailable
from hitsend.settings import Settings

START_S = 30.0
STOP_S = 10.0
ADDRESS = re.compile(r"https?://\S+")


@asynccontextmanager
async def run_server(settings: Settings) -> AsyncIterator[str]:
    """Yields its address once it listens."""
    log = private_file("server.log")
    command = (sys.executable, "-m", "hitsend", "serve", "--host", "127.0.0.1", "--port", "0")
    with log.open("wb") as errors:
        # A session of its own: Ctrl-C must not reach the server.
        server = await asyncio.create_subprocess_exec(
            *command,
            "--data-dir",
            str(settings.data_dir),
            stdout=PIPE,
            stderr=errors,
            start_new_session=True,
        )
    try:
        address = await _address(server)
        if address is None:
            said = log.read_text(errors="replace").strip().splitlines() or ["there was no text."]
            raise Unavailable(f"The server did not start: {said[-1].removeprefix('hitsend: ')}")
        yield address
    finally:
        await _stop(server)


async def _address(server: Process) -> str | None:
    assert server.stdout is not None
    try:
        async with asyncio.timeout(START_S):
            line = (await server.stdout.readline()).decode(errors="replace")
    except TimeoutError:
        return None
    found = ADDRESS.search(line)
    return found[0] if found else None


async def _stop(server: Process) -> None:
    if server.returncode is None:
        server.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await server.wait()
    except TimeoutError:
        server.kill()
        await server.wait()
