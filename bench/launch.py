"""Starts what is measured as processes of their own, and ends exactly those.

Knows hitsend only as its command line and its HTTP interface.
"""

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.load import NO_HEADERS, BadAnswer, dechunked, exchange, http_request, split_head
from bench.machine import ROOT


@dataclass(frozen=True)
class Running:
    """A server that answers, and the process behind it."""

    url: str
    pid: int


@contextmanager
def upstream(rate: float = 0, num_tokens: int = 512) -> Iterator[Running]:
    script = str(ROOT / "bench" / "upstream.py")
    command = [sys.executable, script, "--rate", str(rate), "--tokens", str(num_tokens)]
    with _process(command, {}, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield Running(process.stdout.readline().decode().strip(), process.pid)


@contextmanager
def llama_server(weights: Path, num_slots: int, num_pool_tokens: int) -> Iterator[Running]:
    port = free_port()
    command = [sys.executable, str(ROOT / "bench" / "llama_server.py"), "--weights", str(weights)]
    command += ["--port", str(port), "--slots", str(num_slots)]
    command += ["--pool-tokens", str(num_pool_tokens)]
    with _process(command, {}, stdout=subprocess.DEVNULL) as process:
        yield Running(f"http://127.0.0.1:{port}", process.pid)


@contextmanager
def hitsend(
    flags: Sequence[str], settings: Mapping[str, str], data_dir: Path | None = None
) -> Iterator[Running]:
    """`settings` by name (`num_slots`), given as environment. Without `data_dir`: an empty one."""
    port = free_port()
    environ = {"HITSEND_" + name.upper(): value for name, value in settings.items()}
    with tempfile.TemporaryDirectory() as scratch, (Path(scratch) / "log").open("w+b") as log:
        command = [sys.executable, "-m", "hitsend", "serve", "--port", str(port)]
        command += ["--data-dir", str(data_dir or Path(scratch) / "data"), *flags]
        with _process(command, environ, stdout=log) as process:
            try:
                yield Running(f"http://127.0.0.1:{port}", process.pid)
            except (OSError, BadAnswer):
                log.seek(0)
                sys.stderr.write(log.read().decode()[-4000:])
                raise


@contextmanager
def _process(
    command: list[str], environ: Mapping[str, str], stdout: Any
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, env={**os.environ, **environ}, cwd=ROOT, stdout=stdout, stderr=subprocess.STDOUT
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def call(
    url: str, method: str, path: str, shape: object = None, headers: Mapping[str, str] = NO_HEADERS
) -> tuple[dict[str, str], Any]:
    """A small request: its headers, and its JSON or bytes."""
    done = await exchange(url, http_request(url, method, path, shape, headers))
    head, body = split_head(done)
    status, *lines = head.decode("latin-1").split("\r\n")
    found = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    chunks = dechunked(body) if found.get("transfer-encoding") == "chunked" else body
    content = b"".join(data for _, data in chunks)
    if not status.split()[1].startswith("2"):
        raise BadAnswer(f"{method} {path}: {status} {content[:300]!r}")
    is_json = found.get("content-type", "").startswith("application/json")
    return found, json.loads(content) if is_json else content


async def until_healthy(running: Running, path: str = "/healthz", limit_s: float = 30) -> None:
    deadline = time.perf_counter() + limit_s
    while True:
        try:
            await call(running.url, "GET", path)
        except (OSError, BadAnswer):
            if time.perf_counter() > deadline or not _is_alive(running.pid):
                raise
            await asyncio.sleep(0.005)
        else:
            return


def _is_alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"


async def make_key(url: str) -> str:
    """The first account of an empty server, and an API key of it."""
    return (await make_keys(url, 1))[0]


async def make_keys(url: str, num_people: int) -> list[str]:
    """API keys of as many people: the first account of an empty server, and those it invites."""
    first = await _signed_up(url, "/backend-api/accounts/first", {"name": "bench"})
    keys = [await _key(url, first)]
    for number in range(1, num_people):
        _, invite = await call(url, "POST", "/backend-api/invites", {}, first)
        person = {"name": f"bench {number}", "invite": invite["token"]}
        keys.append(await _key(url, await _signed_up(url, "/backend-api/accounts/sign-up", person)))
    return keys


async def _signed_up(url: str, path: str, person: dict[str, str]) -> dict[str, str]:
    """The headers of their session."""
    password = {"password": secrets.token_urlsafe(16)}
    headers, me = await call(url, "POST", path, person | password)
    cookie = headers["set-cookie"].partition(";")[0]
    return {"cookie": cookie, "x-csrf-token": me["csrf_token"]}


async def _key(url: str, signed_in: dict[str, str]) -> str:
    _, made = await call(url, "POST", "/backend-api/keys", {"label": "bench"}, signed_in)
    return str(made["key"])
