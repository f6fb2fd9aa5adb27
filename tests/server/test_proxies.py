"""Reverse proxies: which are trusted, what they forward, and which mistakes are logged."""

import asyncio
import dataclasses
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from tests.server.test_connection import ASKING, ShortTimeouts, serve_with_timeouts
from tests.server.world import PASSWORD, World, open_world

from hitsend.engine import ScriptedEngine
from hitsend.server.dispatch import build_asgi_app
from hitsend.server.edge.forwarded_headers import TrustedProxies
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.serve import listen
from hitsend.settings import BadSetting, Settings, check_binding

OURS = "127.0.0.1, 10.0.0.0/8"
SIGN_IN = "/backend-api/accounts/sign-in"
TICKET = "/backend-api/celsius/ws/user"
CONNECT = "/backend-api/celsius/ws/connect"


@asynccontextmanager
async def open_world_behind_proxies(
    settings: Settings, trusted: str = OURS
) -> AsyncGenerator[World]:
    """A world whose clients are proxies, where an address has to pause after one failed name. Time
    stands still there, so no pause ends."""
    proxied = msgspec.structs.replace(
        settings, trusted_proxies=trusted, allowed_hosts="Chat.Example"
    )
    async with open_world(proxied, ScriptedEngine()) as world:
        throttle = SignInThrottle(1, now=lambda: 0.0)
        app = dataclasses.replace(world.app, sign_in_throttle=throttle)
        async with listen(app) as url:
            yield World(app, url, world.stack)


async def guesses(world: World, *lines: str) -> list[int]:
    """Tries wrong passwords, each for another name, forwarded along a chain of proxies."""
    http = await world.browser()
    return [
        (
            await http.post(
                SIGN_IN,
                json={"name": f"nobody-{number}", "password": PASSWORD},
                headers=[("x-forwarded-for", one) for one in line.split(";")],
            )
        ).status_code
        for number, line in enumerate(lines)
    ]


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("203.0.113.1", "203.0.113.2"),
        ("203.0.113.1, 10.0.0.7", "203.0.113.2, 10.0.0.7"),
        ("203.0.113.1, ::ffff:10.0.0.7", "203.0.113.2, ::ffff:10.0.0.7"),
        ("203.0.113.1;10.0.0.7", "203.0.113.2;10.0.0.7"),
        ("10.0.0.1", "10.0.0.2, 10.0.0.7"),
    ],
)
async def test_clients_behind_a_trusted_proxy_have_their_own_addresses(
    settings: Settings, one: str, another: str
) -> None:
    async with open_world_behind_proxies(settings) as world:
        assert await guesses(world, one, another) == [401, 401]


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("198.51.100.1, 203.0.113.1", "198.51.100.2, 203.0.113.1"),
        ("198.51.100.1, 203.0.113.1, 10.0.0.7", "198.51.100.2, 203.0.113.1"),
        ("198.51.100.1;203.0.113.1", "198.51.100.2;203.0.113.1"),
        ("203.0.113.1:1000", "203.0.113.1:2000"),
        ("[2001:db8::1]:1000", "2001:db8::1"),
        ("unknown", "nonsense"),
        ("", ""),
    ],
)
async def test_a_client_cannot_forge_its_address(
    settings: Settings, one: str, another: str
) -> None:
    async with open_world_behind_proxies(settings) as world:
        assert await guesses(world, one, another) == [401, 429]


@pytest.mark.parametrize("trusted", ["", "10.0.0.0/8"])
async def test_headers_of_an_untrusted_proxy_are_ignored(settings: Settings, trusted: str) -> None:
    async with open_world_behind_proxies(settings, trusted) as world:
        assert await guesses(world, "203.0.113.1", "203.0.113.2") == [401, 429]


@pytest.mark.parametrize(
    ("trusted", "proto", "begins"),
    [
        (OURS, "https", "wss://chat.example/"),
        (OURS, "wss", "wss://chat.example/"),
        (OURS, "http", "ws://chat.example/"),
        (OURS, "gopher", "ws://chat.example/"),
        ("", "https", "ws://chat.example/"),
    ],
)
async def test_the_socket_url_uses_wss_behind_a_trusted_https_proxy(
    settings: Settings, trusted: str, proto: str, begins: str
) -> None:
    async with open_world_behind_proxies(settings, trusted) as world:
        ada = await world.someone("ada")
        headers = {"host": "chat.example", "x-forwarded-proto": proto}
        ticket = (await ada.http.get(TICKET, headers=headers)).json()
    assert ticket["websocket_url"].startswith(begins)


@pytest.mark.parametrize(
    ("origin", "host", "status"),
    [
        ("https://chat.example", "chat.example", 401),
        ("https://chat.example", "chat.example:443", 401),
        ("https://chat.example:8443", "chat.example:8443", 401),
        ("https://chat.example:8443", "chat.example", 403),
        ("https://chat.example", "chat.example:80", 403),
        ("https://evil.example", "chat.example", 403),
        ("https://", "chat.example", 403),
    ],
)
async def test_a_page_may_sign_in_at_its_own_origin(
    settings: Settings, origin: str, host: str, status: int
) -> None:
    async with open_world_behind_proxies(settings) as world:
        http = await world.browser()
        headers = {"origin": origin, "host": host, "x-forwarded-proto": "https"}
        body = {"name": "nobody", "password": PASSWORD}
        response = await http.post(SIGN_IN, json=body, headers=headers)
    assert response.status_code == status


async def test_a_proxy_that_changes_host_is_named_in_the_error(
    settings: Settings,
) -> None:
    async with open_world_behind_proxies(settings) as world:
        http = await world.browser()
        other = await http.post(SIGN_IN, json={}, headers={"origin": "https://chat.example"})
        unknown = await http.get("/", headers={"host": "upstream"})
    assert other.status_code == unknown.status_code == 403
    assert "https://chat.example" in other.json()["detail"]
    assert world.url.removeprefix("http://") in other.json()["detail"]
    assert "asked as upstream" in unknown.json()["detail"]


async def test_an_untrusted_proxy_is_logged_once(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_world_behind_proxies(settings, "") as world:
        await guesses(world, "203.0.113.1", "203.0.113.2")
    assert caplog.text.count("HITSEND_TRUSTED_PROXIES=127.0.0.1") == 1


async def test_a_proxy_that_hides_https_is_logged(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_world_behind_proxies(settings) as world:
        http = await world.browser()
        headers = {"origin": "https://chat.example", "host": "chat.example"}
        await http.post(SIGN_IN, json={}, headers=headers)
    assert "X-Forwarded-Proto" in caplog.text


async def test_a_proxy_that_drops_upgrade_is_logged(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_world_behind_proxies(settings) as world:
        http = await world.browser()
        await http.get(CONNECT, headers={"sec-websocket-key": "x", "sec-websocket-version": "13"})
    assert "without `Upgrade`" in caplog.text


async def test_a_correct_proxy_is_not_logged(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_world_behind_proxies(settings) as world:
        ada = await world.someone("ada")
        ada.http.headers |= {"host": "chat.example", "origin": "https://chat.example"}
        ada.http.headers |= {"x-forwarded-for": "203.0.113.1", "x-forwarded-proto": "https"}
        await ada.http.get(TICKET)
        await ada.send("Hello")
    assert caplog.text == ""


async def test_streams_tell_proxies_not_to_buffer_or_compress(world: World) -> None:
    ada = await world.someone("ada")
    headers = (await ada.send("Hello")).headers
    assert headers["x-accel-buffering"] == "no"
    assert "no-transform" in headers["cache-control"]
    assert headers["content-encoding"] == "identity"


class Fleeting(ShortTimeouts):
    """Closes after its response, unless a proxy may reuse the connection."""

    idle_s = 0


class FromProxy(Fleeting):
    proxies = TrustedProxies(["127.0.0.1"])


async def test_a_proxy_connection_stays_open_longer(world: World) -> None:
    app = build_asgi_app(world.app)
    async with (
        serve_with_timeouts(app, FromProxy) as proxied,
        serve_with_timeouts(app, Fleeting) as direct,
    ):
        reader, proxy = await asyncio.open_connection("127.0.0.1", proxied)
        closed, browser = await asyncio.open_connection("127.0.0.1", direct)
        for asking in (proxy, browser):
            asking.write(ASKING + b"\r\n")
        assert (await closed.read()).startswith(b"HTTP/1.1 200 OK")
        await reader.readuntil(b"}")
        proxy.write(ASKING + b"\r\n")
        assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200 OK")
        for asking in (proxy, browser):
            asking.close()


class Lingering(ShortTimeouts):
    most_body_bytes = 1_000_000
    rest_s = 60.0


@pytest.mark.parametrize("asks_to", ["HTTP/1.1\r\nconnection: close", "HTTP/1.0"])
async def test_a_client_can_read_the_refusal_of_its_oversized_body(
    world: World, asks_to: str
) -> None:
    """nginx reads a response only after it has sent the whole request, and closes after each."""
    num_bytes = 8 * Lingering.most_body_bytes
    head = f"POST {SIGN_IN} {asks_to}\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    body = f"{head}content-length: {num_bytes}\r\n\r\n".encode() + b" " * num_bytes

    def send_whole_body(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(body)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

    async with serve_with_timeouts(build_asgi_app(world.app), Lingering) as port:
        stream = await asyncio.to_thread(send_whole_body, port)
    assert stream.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "names", ["", "chat.example", "chat.example, Other.Example", "2001:db8::1"]
)
def test_valid_allowed_hosts_are_accepted(names: str) -> None:
    check_binding(Settings(allowed_hosts=names))


@pytest.mark.parametrize(
    "name", ["https://chat.example", "chat.example:8443", "[2001:db8::1]:443", "münchen.example"]
)
def test_an_invalid_allowed_host_stops_the_start(name: str) -> None:
    with pytest.raises(BadSetting, match="allowed_hosts"):
        check_binding(Settings(allowed_hosts=name))
