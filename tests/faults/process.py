"""hitsend as people run it: a process of its own, with the scripted engine."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from hitsend.credentials import hash_token, key_prefix, new_key
from hitsend.store import Store


@dataclass(frozen=True)
class Served:
    process: asyncio.subprocess.Process
    url: str
    log: Path


@asynccontextmanager
async def serving(data_dir: Path) -> AsyncGenerator[Served]:
    """With the log at its most talkative."""
    log = data_dir / "log.txt"
    with log.open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "hitsend", "serve", "--engine", "scripted", "--port", "0",
            "--data-dir", str(data_dir), "--log-level", "debug",
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=os.environ | {"PYTHONPATH": "src"},
        )  # fmt: skip
    try:
        yield Served(process, await _address(process), log)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.communicate()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout
    async with asyncio.timeout(30):
        while b"http://" not in (line := await process.stdout.readline()):
            assert line, "it did not start"
    return line[line.index(b"http://") :].split()[0].decode()


async def key_in(data_dir: Path, name: str = "ada") -> str:
    """An account, and its key."""
    store = await Store.open(data_dir / "hitsend.db")
    user, key = await store.accounts.create(name, "", "member"), new_key()
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
