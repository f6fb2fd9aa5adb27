"""Starts the measured servers as processes, and ends them.

Uses hitsend only through its command line and its HTTP interface.
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
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.load import (
    NO_HEADERS,
    Answer,
    BadAnswer,
    Target,
    decode_chunks,
    http_request,
    run_exchange,
    split_head,
)
from bench.machine import ROOT

SEND = "/backend-api/f/conversation"
IMPORTED_AT = 1_700_000_000.0


@dataclass(frozen=True)
class Running:
    """The address of a server, and its process."""

    url: str
    pid: int


@dataclass(frozen=True)
class Build:
    """A checkout of hitsend, the interpreter that runs it, and settings it does not have."""

    root: Path
    python: str = sys.executable
    missing_settings: frozenset[str] = frozenset()


THIS_TREE = Build(ROOT)


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
    environ = {"GOMP_SPINCOUNT": "1000"}  # as hitsend sets it for its own
    with _process(command, environ, stdout=subprocess.DEVNULL) as process:
        yield Running(f"http://127.0.0.1:{port}", process.pid)


@contextmanager
def hitsend(
    flags: Sequence[str],
    settings: Mapping[str, str],
    data_dir: Path | None = None,
    build: Build = THIS_TREE,
) -> Iterator[Running]:
    """`settings` by name (`num_slots`). Without `data_dir` the server starts with an empty one."""
    port = free_port()
    environ = {
        "HITSEND_" + name.upper(): value
        for name, value in settings.items()
        if name not in build.missing_settings
    } | {"PYTHONPATH": str(build.root / "src")}
    with tempfile.TemporaryDirectory() as scratch, (Path(scratch) / "log").open("w+b") as log:
        command = [build.python, "-m", "hitsend", "serve", "--port", str(port)]
        command += ["--data-dir", str(data_dir or Path(scratch) / "data"), *flags]
        with _process(command, environ, stdout=log) as process:
            try:
                yield Running(f"http://127.0.0.1:{port}", process.pid)
            except (OSError, BadAnswer):
                log.seek(0)
                sys.stderr.write(log.read().decode()[-4000:])
                raise


def fetch_weights(model: str) -> Path:
    """Downloads a model's weights if they are not here, and returns their file."""
    try:
        return Path(run_hitsend(THIS_TREE, "models", "pull", model).strip())
    except subprocess.CalledProcessError:  # hitsend has printed why
        sys.exit(f"This bench needs the weights of {model}.")


def run_hitsend(build: Build, *words: str) -> str:
    """Runs a `hitsend` command and returns its output."""
    done = subprocess.run(
        [build.python, "-m", "hitsend", *words],
        env={**os.environ, "PYTHONPATH": str(build.root / "src"), "COLUMNS": "200"},
        cwd=build.root,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@dataclass(frozen=True)
class Server:
    """A hitsend process with one account, the first."""

    pid: int
    chat: Target
    session: Mapping[str, str]
    """Headers of a signed-in browser."""

    async def get(self, path: str, **query: str) -> Any:
        path = f"{path}?{urlencode(query)}" if query else path
        return (await call(self.chat.url, "GET", path, None, self.session))[1]

    async def post(self, path: str, shape: object) -> Any:
        return (await call(self.chat.url, "POST", path, shape, self.session))[1]

    async def prepare(self, draft: str, after: Answer | None, **fields: str) -> Any:
        return await self.post(f"{SEND}/prepare", self.chat.body(draft, after) | fields)

    async def add_conversation(self, number: int, texts: Sequence[str]) -> Answer:
        """Returns its last message, which the next Send follows. It becomes the newest."""
        conversation = build_conversation(number, f"Imported {number}", texts)
        await self.post("/backend-api/import", [conversation])
        return await self.find_newest()

    async def events(self, answer: Answer, kind: str) -> list[dict[str, Any]]:
        """The events of one type in the log of an answer's turn."""
        log = await self.get(f"/backend-api/turn/{answer.turn_id}")
        return [one["event"] for one in log["events"] if one["event"]["type"] == kind]

    async def find_newest(self) -> Answer:
        """The last message of the newest conversation."""
        [line] = (await self.get("/backend-api/conversations", limit="1"))["items"]
        opened = await self.get(f"/backend-api/conversation/{line['id']}")
        return Answer(0, 0, 0, 0, 0, (), line["id"], opened["current_node"])


@asynccontextmanager
async def serve(
    flags: Sequence[str],
    settings: Mapping[str, str],
    data_dir: Path | None = None,
    build: Build = THIS_TREE,
) -> AsyncGenerator[Server]:
    with hitsend(flags, settings, data_dir, build) as running:
        await until_healthy(running)
        session = await sign_up_first(running.url)
        key = await create_key(running.url, session)
        yield Server(running.pid, Target(running.url, SEND, "v1", key), session)


def build_conversation(number: int, title: str, texts: Sequence[str]) -> dict[str, Any]:
    """A conversation as ChatGPT exports it. The higher its number, the newer it is."""
    nodes = {
        str(index): {
            "parent": str(index - 1) if index else None,
            "children": [str(index + 1)] if index + 1 < len(texts) else [],
            "message": {
                "author": {"role": "assistant" if index % 2 else "user"},
                "create_time": IMPORTED_AT + number,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        for index, text in enumerate(texts)
    }
    return {
        "conversation_id": f"bench-{number}",
        "title": title,
        "create_time": IMPORTED_AT + number,
        "update_time": IMPORTED_AT + number,
        "mapping": nodes,
        "current_node": str(len(texts) - 1),
    }


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
    """Sends one request. Returns the response's headers, and its body as JSON or bytes."""
    done = await run_exchange(url, http_request(url, method, path, shape, headers))
    head, body = split_head(done)
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    received = {name.lower(): value.strip() for name, _, value in pairs}
    chunks = decode_chunks(body) if received.get("transfer-encoding") == "chunked" else body
    content = b"".join(data for _, data in chunks)
    if not status.split()[1].startswith("2"):
        raise BadAnswer(f"{method} {path}: {status} {content[:300]!r}")
    is_json = received.get("content-type", "").startswith("application/json")
    return received, json.loads(content) if is_json else content


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
    """Creates the first account of an empty server, and an API key for it."""
    return (await make_keys(url, 1))[0]


async def make_keys(url: str, num_people: int) -> list[str]:
    """Creates the first account of an empty server, invites the others, and returns a key each."""
    first = await sign_up_first(url)
    keys = [await create_key(url, first)]
    for number in range(1, num_people):
        _, invite = await call(url, "POST", "/backend-api/invites", {}, first)
        person = {"name": f"bench {number}", "invite": invite["token"]}
        session = await _sign_up(url, "/backend-api/accounts/sign-up", person)
        keys.append(await create_key(url, session))
    return keys


async def sign_up_first(url: str) -> dict[str, str]:
    """Creates the first account of an empty server. Returns the headers of its session."""
    return await _sign_up(url, "/backend-api/accounts/first", {"name": "bench"})


async def _sign_up(url: str, path: str, person: dict[str, str]) -> dict[str, str]:
    password = {"password": secrets.token_urlsafe(16)}
    headers, me = await call(url, "POST", path, person | password)
    cookie = headers["set-cookie"].partition(";")[0]
    return {"cookie": cookie, "x-csrf-token": me["csrf_token"]}


async def create_key(url: str, session: Mapping[str, str]) -> str:
    _, made = await call(url, "POST", "/backend-api/keys", {"label": "bench"}, session)
    return str(made["key"])
