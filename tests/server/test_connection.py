"""The HTTP connection: limits and timeouts of requests."""

import asyncio
import gc
import socket
import time
import weakref
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import ClassVar
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.server.world import Someone, World
from uvicorn.server import ServerState
from websockets.asyncio.client import connect

from hitsend.events import AnswerStarted, AnyEvent, Stamped, TextArrived, TurnFinished, TurnStarted
from hitsend.messages import Sampling
from hitsend.server.dispatch import build_asgi_app
from hitsend.server.edge.connection import Connection
from hitsend.server.edge.connection_limits import ConnectionLimits
from hitsend.server.turns.socket.transport import SocketProtocol
from hitsend.store import FinishedTurn, LogEntry, NewTurn
from hitsend.transcript import fold

ASKING = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"


class ShortTimeouts(Connection):
    limits = ConnectionLimits(1000)
    headers_s = 0.2
    body_s = 1.0
    body_step = 10
    rest_s = 0.2


class LongTimeouts(ShortTimeouts):
    """While there is no response."""

    body_s = 60.0


class Watched(ShortTimeouts):
    """Records how many bytes waited for its client, and whether it was aborted."""

    stuck_s = 1.0

    most_waiting = 0
    has_left: ClassVar[asyncio.Event]

    def pause_writing(self) -> None:
        super().pause_writing()
        Watched.most_waiting = max(self.most_waiting, self.transport.get_write_buffer_size())

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.has_left.set()


class Upgraded(ShortTimeouts):
    """Has unsent bytes when it becomes a WebSocket."""

    stuck_s = 0.01

    was_stuck: ClassVar[asyncio.Event]

    def handle_websocket_upgrade(self) -> None:
        self.pause_writing()
        super().handle_websocket_upgrade()
        self.loop.call_later(2 * self.stuck_s, self.was_stuck.set)


class Strict(ShortTimeouts):
    max_body_bytes = 200


@pytest.fixture
async def hasty_port(world: World) -> AsyncGenerator[int]:
    async with serve_with_timeouts(build_asgi_app(world.app)) as port:
        yield port


@asynccontextmanager
async def serve_with_timeouts(
    app: ASGIApp, kind: type[ShortTimeouts] = ShortTimeouts
) -> AsyncGenerator[int]:
    config = uvicorn.Config(app, lifespan="off", log_config=None, ws=SocketProtocol)
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: kind(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def send_and_read(port: int, *pieces: bytes) -> bytes:
    return await asyncio.to_thread(_send_and_read, port, pieces)


def _send_and_read(port: int, pieces: tuple[bytes, ...]) -> bytes:
    """Returns everything received until the server closes, even in the middle of a chunk."""
    received = bytearray()
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        with suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
        with suppress(ConnectionError):
            while block := connection.recv(65_536):
                received += block
    return bytes(received)


@pytest.mark.parametrize(
    "pieces",
    [
        (b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",),
        (ASKING, b"x: " + b"x" * 100_000 + b"\r\n\r\n"),
        (ASKING, *[b"x: %s\r\n" % (b"x" * 1000)] * 100, b"\r\n"),
    ],
)
async def test_headers_without_end_are_refused(world: World, pieces: tuple[bytes, ...]) -> None:
    port = urlsplit(world.url).port
    assert port
    assert (await send_and_read(port, *pieces)).startswith(b"HTTP/1.1 431 ")


async def test_large_headers_and_a_larger_body_pass(world: World) -> None:
    ada = await world.someone("ada")
    for _ in range(2):
        response = await ada.http.post(
            "/backend-api/keys", json={"label": "x" * 300_000}, headers={"x": "x" * 50_000}
        )
        assert response.status_code == 400, response.text
        assert response.json()["error"]["param"] == "label"


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /healthz HT",
        ASKING,
        b"POST /backend-api/accounts/first HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        b"content-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    ],
)
async def test_an_unfinished_request_times_out(hasty_port: int, begun: bytes) -> None:
    assert await send_and_read(hasty_port, begun) == b""


async def test_a_large_body_has_a_timeout_per_step(hasty_port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", hasty_port)
    writer.write(
        b"POST /backend-api/accounts/first HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        b"content-type: application/json\r\ncontent-length: 40\r\n\r\n"
    )
    began = time.monotonic()
    async with asyncio.timeout(5):
        for _ in range(3):
            writer.write(b" " * 10)
            with suppress(TimeoutError):
                async with asyncio.timeout(ShortTimeouts.body_s * 0.4):
                    assert await reader.read(1) != b""
        writer.write(b" " * 10)
        assert (await reader.readline()).startswith(b"HTTP/1.1 400 ")
    assert time.monotonic() - began > ShortTimeouts.body_s
    writer.close()


async def test_a_further_request_has_its_own_timeout(hasty_port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", hasty_port)
    async with asyncio.timeout(3):
        for _ in range(2):
            writer.write(ASKING + b"\r\n")
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200 OK")
        writer.write(b"\r\n\r\nGET")
        assert await reader.read() == b""
    writer.close()


CHUNKED = b"host: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNK = b"a\r\n" + b" " * 10 + b"\r\n"


async def read_while_sending(port: int, asked: bytes) -> bytes:
    """Returns what is received until the server closes, while it sends more of the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(asked + CHUNKED)
    received = bytearray()

    async def receive() -> None:
        with suppress(ConnectionError):
            while block := await reader.read(65_536):
                received.extend(block)

    receiving = asyncio.create_task(receive())
    async with asyncio.timeout(5):
        while not receiving.done():
            writer.write(CHUNK)
            await asyncio.wait({receiving}, timeout=0.02)
    writer.close()
    return bytes(received)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n", b"200"),
        (b"POST /backend-api/nowhere HTTP/1.1\r\n", b"404"),
        (b"POST /backend-api/folders HTTP/1.1\r\n", b"401"),
    ],
)
async def test_a_body_that_continues_after_its_response_times_out(
    world: World, asked: bytes, status: bytes
) -> None:
    async with serve_with_timeouts(build_asgi_app(world.app), LongTimeouts) as port:
        stream = await read_while_sending(port, asked)
    assert stream.startswith(b"HTTP/1.1 " + status)


async def test_a_body_that_ends_after_its_response_leaves_the_connection_usable(
    hasty_port: int,
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", hasty_port)
    async with asyncio.timeout(3):
        for _ in range(2):
            writer.write(b"GET /healthz HTTP/1.1\r\n" + CHUNKED + CHUNK)
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200 OK")
            writer.write(b"0\r\n\r\n")
        assert await reader.read() == b""
    writer.close()


async def test_an_endless_body_is_cut_off() -> None:
    num_received = 0

    async def listen(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal num_received
        while (message := await receive())["type"] == "http.request":
            num_received += len(message["body"])

    async with serve_with_timeouts(listen, Strict) as port:
        assert await read_while_sending(port, b"POST / HTTP/1.1\r\n") == b""
    assert 0 < num_received <= Strict.max_body_bytes + Strict.body_step


NUM_CHARS = 4_000_000


async def asking(port: int, path: str, key: str) -> socket.socket:
    """With small socket buffers, so that the server soon has to wait."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", port))
    asked = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n\r\n"
    await loop.sock_sendall(connection, asked.encode())
    return connection


async def store_long_answer(world: World, someone: Someone) -> str:
    """Stores an answer larger than any socket buffer. Returns its turn."""
    turns, turn_id, answer_id = world.app.services.store.turns, str(uuid4()), str(uuid4())
    await turns.accept(
        NewTurn(
            turn_id=turn_id,
            user_id=someone.user_id,
            conversation_id=None,
            action="next",
            model="scripted",
            answer_id=answer_id,
            created_at=0.0,
        )
    )
    events: list[AnyEvent] = [
        TurnStarted(turn_id, "", "next", "scripted", True, 0.0, Sampling()),
        AnswerStarted(answer_id, None, "scripted"),
        *[TextArrived("x" * 4000)] * (NUM_CHARS // 4000),
        TurnFinished("stop"),
    ]
    entries = [LogEntry(turn_id, Stamped(i, 0.0, event)) for i, event in enumerate(events, 1)]
    await turns.append(entries, [FinishedTurn(turn_id, fold(events), time.time())])
    return turn_id


async def test_a_client_that_does_not_read_is_dropped_and_can_resume(
    world: World,
) -> None:
    ada = await world.someone("ada")
    turn_id = await store_long_answer(world, ada)
    path = f"/backend-api/f/conversation/{turn_id}/events?after=1"
    Watched.has_left = asyncio.Event()
    async with serve_with_timeouts(build_asgi_app(world.app), Watched) as port:
        with await asking(port, path, ada.key):
            async with asyncio.timeout(10):
                await Watched.has_left.wait()
    assert 65_536 <= Watched.most_waiting < 262_144
    whole = await ada.follow(turn_id)
    assert whole.is_done
    assert whole.text == "x" * NUM_CHARS


async def test_a_slow_reader_is_not_dropped(world: World) -> None:
    ada = await world.someone("ada")
    turn_id = await store_long_answer(world, ada)
    path = f"/backend-api/f/conversation/{turn_id}/events?after=1"
    Watched.has_left = asyncio.Event()
    num_bytes, loop = 0, asyncio.get_running_loop()
    async with serve_with_timeouts(build_asgi_app(world.app), Watched) as port:
        with await asking(port, path, ada.key) as connection:
            began = time.monotonic()
            async with asyncio.timeout(30):
                while num_bytes < NUM_CHARS:
                    received = await loop.sock_recv(connection, 65_536)
                    assert received
                    num_bytes += len(received)
                    if time.monotonic() - began < 2 * Watched.stuck_s:
                        with suppress(TimeoutError):
                            async with asyncio.timeout(Watched.stuck_s / 20):
                                await Watched.has_left.wait()


async def echo(_: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    said = await receive()
    await send({"type": "websocket.send", "text": said["text"]})


async def test_a_socket_is_not_dropped_for_bytes_from_before_its_upgrade() -> None:
    Upgraded.was_stuck = asyncio.Event()
    async with (
        asyncio.timeout(5),
        serve_with_timeouts(echo, Upgraded) as port,
        connect(f"ws://127.0.0.1:{port}/", proxy=None) as line,
    ):
        await Upgraded.was_stuck.wait()
        await line.send("still there")
        assert await line.recv() == "still there"


class Remembered(ShortTimeouts):
    upgraded: ClassVar["weakref.ref[Remembered]"]

    def handle_websocket_upgrade(self) -> None:
        type(self).upgraded = weakref.ref(self)
        super().handle_websocket_upgrade()


async def test_a_socket_keeps_nothing_of_its_http_connection_in_memory() -> None:
    async with (
        asyncio.timeout(5),
        serve_with_timeouts(echo, Remembered) as port,
        connect(f"ws://127.0.0.1:{port}/", proxy=None) as line,
    ):
        gc.collect()
        assert Remembered.upgraded() is None
        await line.send("still there")
        assert await line.recv() == "still there"
