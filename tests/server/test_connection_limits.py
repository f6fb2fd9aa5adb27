"""Connections and half-sent requests are shared by address; health is always answered."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import pytest
from msgspec import structs
from tests.server.pages import open_page
from tests.server.world import World, open_world

from hitsend.engine import ScriptedEngine
from hitsend.server.edge.connection_limits import NUM_RESERVED
from hitsend.server.serve import listen
from hitsend.settings import Settings

HOG, OTHER = "127.0.0.1", "127.0.0.2"
HALF_SIGN_IN = (
    b"POST /backend-api/accounts/sign-in HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    b'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"name"'
)
HALF_HEADERS = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"
PROBES = ("/healthz", "/readyz")
PROFILE = "/backend-api/me"
"""Answered with 401, which takes a place like any other call."""
WHOLE = f"GET {PROFILE} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()


class Line:
    """A connection from an address of our choice."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def get(self, path: str, client: str = "") -> tuple[int, dict[str, str]]:
        forwarded = f"x-forwarded-for: {client}\r\n" if client else ""
        self.writer.write(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{forwarded}\r\n".encode())
        return await self.read_response()

    async def read_response(self) -> tuple[int, dict[str, str]]:
        async with asyncio.timeout(20):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
            status, *lines = head.split("\r\n")
            headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
            await self._reader.readexactly(int(headers.get("content-length", 0)))
        return int(status.split()[1]), headers


@asynccontextmanager
async def connect(world: World, address: str, sent: bytes = b"") -> AsyncGenerator[Line]:
    target = urlsplit(world.url)
    reader, writer = await asyncio.open_connection(
        target.hostname, target.port, local_addr=(address, 0)
    )
    try:
        writer.write(sent)
        yield Line(reader, writer)
    finally:
        writer.transport.abort()


async def ask(world: World, address: str, path: str) -> tuple[int, dict[str, str]]:
    async with connect(world, address) as line:
        return await line.get(path)


@asynccontextmanager
async def connect_many(
    world: World, addresses: Sequence[str], sent: bytes = b""
) -> AsyncGenerator[list[Line]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(connect(world, one, sent)) for one in addresses]


async def until_free(world: World, address: str) -> None:
    """Closed connections give their room back as soon as the server notices."""
    async with asyncio.timeout(10):
        while (await ask(world, address, PROFILE))[0] != 401:
            continue


@asynccontextmanager
async def small_world(settings: Settings, **changes: object) -> AsyncGenerator[World]:
    async with open_world(structs.replace(settings, **changes), ScriptedEngine()) as world:
        yield world


@pytest.mark.parametrize("sent", [HALF_SIGN_IN, HALF_HEADERS, b""])
async def test_hundreds_of_half_sent_requests_shut_nobody_out(
    settings: Settings, sent: bytes
) -> None:
    async with small_world(settings, max_connections=200) as world:
        eve = await world.someone("eve")
        async with connect_many(world, [HOG] * 600, sent):
            for path in PROBES:
                assert (await ask(world, OTHER, path))[0] == 200
                assert (await ask(world, HOG, path))[0] == 200
            assert (await ask(world, OTHER, PROFILE))[0] == 401
            assert (await eve.send("!script\nAt once.")).text == "At once."
        await until_free(world, HOG)


async def test_whoever_loses_a_half_sent_request_is_told_when_to_try_again(
    settings: Settings,
) -> None:
    async with (
        small_world(settings, max_connections=200) as world,
        connect_many(world, [HOG] * 60, HALF_SIGN_IN) as lines,
    ):
        status, headers = await lines[0].read_response()
    assert status == 429
    assert int(headers["retry-after"]) > 0


async def test_the_address_with_most_half_sent_requests_loses_its_oldest(
    settings: Settings,
) -> None:
    async with (
        small_world(settings, max_connections=200) as world,
        connect(world, OTHER, HALF_SIGN_IN) as slow,
        connect_many(world, [HOG] * 300, HALF_SIGN_IN),
    ):
        slow.writer.write(b"x" * (100 - len(b'{"name"')))
        assert (await slow.read_response())[0] == 400  # whole, but no JSON


async def test_an_address_has_at_most_half_of_the_connections(settings: Settings) -> None:
    async with small_world(settings, max_connections=20) as world:
        async with connect_many(world, [HOG] * 10, WHOLE) as lines:
            for line in lines:
                assert (await line.read_response())[0] == 401
            status, headers = await ask(world, HOG, PROFILE)
            assert status == 429
            assert int(headers["retry-after"]) > 0
            assert headers["connection"] == "close"
            assert (await ask(world, HOG, "/healthz"))[0] == 200
            assert (await ask(world, OTHER, PROFILE))[0] == 401
        await until_free(world, HOG)


async def test_health_is_answered_when_every_connection_is_taken(settings: Settings) -> None:
    async with small_world(settings, max_connections=20) as world:
        many = [f"127.0.1.{number}" for number in range(1, 21)]
        async with connect_many(world, many, WHOLE) as lines:
            for line in lines:
                assert (await line.read_response())[0] == 401
            assert (await ask(world, OTHER, PROFILE))[0] == 503
            async with connect_many(world, [HOG] * (3 * NUM_RESERVED), HALF_HEADERS):
                for path in PROBES:
                    assert (await ask(world, OTHER, path))[0] == 200
        await until_free(world, OTHER)


async def test_a_trusted_proxy_may_have_all_connections_but_none_of_its_clients(
    settings: Settings,
) -> None:
    async with small_world(settings, max_connections=12, trusted_proxies=HOG) as world:
        ada = await world.someone("ada")
        running = await ada.send("!script tokens=400 pace=50ms", until_chars=1)
        path = f"/backend-api/f/conversation/{running.turn_id}/events"
        asked = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {ada.key}\r\n"
        stream = f"{asked}x-forwarded-for: 10.0.0.1\r\n\r\n".encode()
        async with connect_many(world, [HOG] * 9, stream) as lines:
            statuses = [(await line.read_response())[0] for line in lines]
            assert statuses.count(200) in (6, 7)
            assert set(statuses) == {200, 429}
            async with connect(world, HOG) as line:
                assert (await line.get(PROFILE, "10.0.0.2"))[0] == 401
                assert (await line.get(PROFILE, "10.0.0.1"))[0] == 429
                assert (await line.get(PROFILE, "10.0.0.2"))[0] == 401, "on the same connection"


async def test_sockets_count_and_give_their_place_back(settings: Settings) -> None:
    async with small_world(settings, max_connections=12) as world:
        ada = await world.someone("ada")
        for _ in range(3):
            async with AsyncExitStack() as stack:
                for _ in range(4):
                    await stack.enter_async_context(open_page(ada))
                async with connect(world, HOG) as line:
                    await line.get(PROFILE)
                    assert (await ask(world, HOG, PROFILE))[0] == 429
            await until_free(world, HOG)


@pytest.mark.parametrize(
    ("soft", "hard", "fitting"), [(700, 5000, 4000), (700, 2000, 1488), (700, 700, 188)]
)
def test_connections_fit_the_limit_of_open_files(soft: int, hard: int, fitting: int) -> None:
    script = (
        "import resource; from hitsend.server.open_file_limit import fit_open_files; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard})); "
        "print(fit_open_files(4000), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert printed.stdout.split() == [b"%d" % fitting, b"%d" % min(hard, 4512)]


async def test_the_next_start_counts_anew(settings: Settings) -> None:
    async with small_world(settings, max_connections=2) as world, listen(world.app) as url:
        again = World(world.app, url, world.stack)
        assert (await ask(again, HOG, PROFILE))[0] == 401
