"""A connection: how much and how long a client may take to ask."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
import uvicorn
from tests.server.world import World
from uvicorn.server import ServerState

from hitsend.server.app import build_app
from hitsend.server.connection import Connection

ASKING = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"


class Hasty(Connection):
    headers_s = 0.2
    body_s = 0.4


@pytest.fixture
async def hasty_port(world: World) -> AsyncGenerator[int]:
    config = uvicorn.Config(build_app(world.house), lifespan="off", log_config=None)
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Hasty(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def said(port: int, *pieces: bytes) -> bytes:
    return await asyncio.to_thread(_said, port, pieces)


def _said(port: int, pieces: tuple[bytes, ...]) -> bytes:
    """Everything that comes back until the server hangs up, even in the middle of a piece."""
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
    assert (await said(port, *pieces)).startswith(b"HTTP/1.1 431 ")


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
async def test_who_does_not_come_to_the_end_is_hung_up_on(hasty_port: int, begun: bytes) -> None:
    assert await said(hasty_port, begun) == b""


async def test_a_further_request_has_its_own_time(hasty_port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", hasty_port)
    async with asyncio.timeout(3):
        for _ in range(2):
            writer.write(ASKING + b"\r\n")
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200 OK")
        writer.write(b"\r\n\r\nGET")
        assert await reader.read() == b""
    writer.close()
