"""Nothing that the guard forbids is ever connected to: a real listener sees whether it is."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path

import httpx2
import msgspec
import pytest
from tests.unit.engine.fake_server import Request, serving, whole

from hitsend.egress import Egress, parse_trusted, parse_url
from hitsend.egress.destinations import WEB_PORTS
from hitsend.errors import DestinationRefused, HitsendError


class Corpus(msgspec.Struct):
    """`{port}` in a URL stands for the port of the listener."""

    loopback_hosts: list[str]
    """Many a client reaches this machine with them."""
    other_hosts: list[str]
    other_urls: list[str]
    names: dict[str, list[str]]
    """Maps each name to its addresses."""

    @property
    def urls(self) -> list[str]:
        hosts = [*self.loopback_hosts, *self.other_hosts]
        return [*(f"http://{host}:{{port}}/" for host in hosts), *self.other_urls]


FILE = Path(__file__).parent / "forbidden_urls.json"
CORPUS = msgspec.json.decode(FILE.read_bytes(), type=Corpus)


class Listener:
    """Answers on every address of this machine, and counts the connections."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.num_connections = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.num_connections += 1
        writer.write(whole(b"secret"))
        with suppress(ConnectionError):
            await reader.read(1)
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def listening() -> AsyncGenerator[Listener, None]:
    four = socket.create_server(("0.0.0.0", 0))
    port = four.getsockname()[1]
    sockets = [four]
    if socket.has_ipv6:
        with suppress(OSError):
            sockets.append(socket.create_server(("::", port), family=socket.AF_INET6))
    listener = Listener(port)
    servers = [await asyncio.start_server(listener.answer, sock=one) for one in sockets]
    yield listener
    for server in servers:
        server.close()


async def resolve(host: str, port: int) -> Sequence[str]:
    """Knows the names of the corpus, and all spellings of numbers that the system knows."""
    if host in CORPUS.names:
        return CORPUS.names[host]
    flags = socket.AI_NUMERICHOST
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [str(where[0]) for *_, where in found]


def guard_with_port(port: int, *trusted: str) -> Egress:
    """An Egress that does not refuse the listener for its port."""
    return Egress([parse_trusted(one) for one in trusted], WEB_PORTS | {port}, resolve)


async def fetch(egress: Egress, url: str, follows_redirects: bool = False) -> bytes:
    response = await egress.get(parse_url(url), {}, follows_redirects=follows_redirects)
    return response.content


async def is_refused(egress: Egress, url: str) -> bool:
    try:
        await fetch(egress, url, follows_redirects=True)
    except HitsendError:
        return True
    return False


async def test_about_two_hundred_forbidden_urls_reach_nothing() -> None:
    async with listening() as listener:
        egress = guard_with_port(listener.port)
        urls = [url.replace("{port}", str(listener.port)) for url in CORPUS.urls]
        assert [url for url in urls if not await is_refused(egress, url)] == []
        assert listener.num_connections == 0
    assert len(urls) > 200


async def test_a_redirect_to_any_of_them_reaches_nothing() -> None:
    async with listening() as listener:
        urls = [url.replace("{port}", str(listener.port)) for url in CORPUS.urls]
        targets = [url for url in urls if url and url.isprintable()]

        async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
            target = targets[int(request.path[1:] or 0)]
            head = "HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n"
            writer.write(head.format(target).encode())

        async with serving(answer) as server:
            egress = guard_with_port(listener.port, server.url.removeprefix("http://"))
            starts = [f"{server.url}/{number}" for number in range(len(targets))]
            assert [url for url in starts if not await is_refused(egress, url)] == []
        assert listener.num_connections == 0
        assert {request.path for request in server.requests} >= {f"/{n}" for n in range(200)}


@pytest.mark.parametrize("host", ["user@127.0.0.1", "2130706433", "0x7f.1", "[::1%lo]"])
async def test_a_redirect_in_a_strange_form_is_refused_even_to_what_is_trusted(host: str) -> None:
    async with listening() as listener:

        async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
            writer.write(whole(b"", "302 Found", Location=f"http://{host}:{listener.port}/"))

        async with serving(answer) as server:
            ports = [server.url.rpartition(":")[2], str(listener.port)]
            trusted = [
                f"{network}:{port}" for network in ("127.0.0.0/8", "[::1]") for port in ports
            ]
            with pytest.raises(DestinationRefused):
                await fetch(guard_with_port(0, *trusted), server.url, follows_redirects=True)
        assert listener.num_connections == 0


async def test_many_of_them_would_be_reached_without_the_guard() -> None:
    num_reached = 0
    async with listening() as listener, httpx2.AsyncClient(trust_env=False) as client:
        for host in CORPUS.loopback_hosts:
            with suppress(httpx2.HTTPError, httpx2.InvalidURL):
                await client.get(f"http://{host}:{listener.port}/")
                num_reached += 1
        assert listener.num_connections == num_reached > 20


async def test_a_name_is_resolved_once_so_that_its_next_address_does_not_matter() -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"page"))

    calls = count(1)

    async def rebind(host: str, port: int) -> list[str]:
        return ["127.0.0.1" if next(calls) == 1 else "127.0.0.2"]

    async with serving(answer) as server:
        port = server.url.rpartition(":")[2]
        egress = Egress([parse_trusted(f"127.0.0.1:{port}")], resolve=rebind)
        assert await fetch(egress, f"http://rebinding.test:{port}/") == b"page"
        assert next(calls) == 2
        with pytest.raises(DestinationRefused):
            await fetch(egress, f"http://rebinding.test:{port}/")
        assert len(server.requests) == 1


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"page"))

    async with listening() as listener, serving(answer) as server:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
        egress = guard_with_port(0, server.url.removeprefix("http://"))
        assert await fetch(egress, server.url) == b"page"
        assert listener.num_connections == 0


@pytest.mark.parametrize(
    ("trusted", "url", "is_reached"),
    [
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}/", True),
        ("127.0.0.0/8:{port}", "http://127.0.0.3:{port}/", True),
        ("loopback.test:{port}", "http://loopback.test:{port}/", True),
        ("loopback.test:{port}", "http://LOOPBACK.test.:{port}/", True),
        ("loopback.test:{port}", "http://127.0.0.1:{port}/", False),
        ("127.0.0.1:{port}", "http://both.test:{port}/", False),
        ("127.0.0.1:{port}", "http://127.0.0.2:{port}/", False),
        ("127.0.0.1", "http://127.0.0.1:{port}/", False),
        ("127.0.0.1:1", "http://127.0.0.1:{port}/", False),
    ],
)
async def test_what_an_administrator_trusts_is_reached_and_nothing_beside_it(
    trusted: str, url: str, is_reached: bool
) -> None:
    async with listening() as listener:
        egress = Egress([parse_trusted(trusted.format(port=listener.port))], resolve=resolve)
        if is_reached:
            assert await fetch(egress, url.format(port=listener.port)) == b"secret"
        else:
            with pytest.raises(DestinationRefused):
                await fetch(egress, url.format(port=listener.port))
        assert listener.num_connections == is_reached
