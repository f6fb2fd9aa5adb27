"""Behind a proxy: who is believed, what is heard from it, and what the log says if it is set up by
halves."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from tests.server.test_connection import ASKING, Hasty, hastily
from tests.server.world import PASSWORD, World, world_of

from hitsend.engine import ScriptedEngine
from hitsend.server.app import build_app
from hitsend.server.proxies import Proxies
from hitsend.settings import BadSetting, Settings, check_binding

OURS = "127.0.0.1, 10.0.0.0/8"
SIGN_IN = "/backend-api/accounts/sign-in"
TICKET = "/backend-api/celsius/ws/user"
CONNECT = "/backend-api/celsius/ws/connect"


@asynccontextmanager
async def behind(settings: Settings, trusted: str = OURS) -> AsyncGenerator[World]:
    """A world whose callers are proxies. After one wrong password an address has to wait."""
    proxied = msgspec.structs.replace(
        settings, trusted_proxies=trusted, allowed_hosts="Chat.Example", sign_in_tries=1
    )
    async with world_of(proxied, ScriptedEngine()) as world:
        yield world


async def guesses(world: World, *lines: str) -> list[int]:
    """Wrong passwords, each for a name of its own and passed on along such a line of proxies."""
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
async def test_callers_of_a_trusted_proxy_are_told_apart(
    settings: Settings, one: str, another: str
) -> None:
    async with behind(settings) as world:
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
async def test_nobody_becomes_another_by_what_they_write(
    settings: Settings, one: str, another: str
) -> None:
    async with behind(settings) as world:
        assert await guesses(world, one, another) == [401, 429]


@pytest.mark.parametrize("trusted", ["", "10.0.0.0/8"])
async def test_who_is_not_trusted_stays_who_they_are(settings: Settings, trusted: str) -> None:
    async with behind(settings, trusted) as world:
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
async def test_the_address_of_the_socket_is_as_secure_as_a_trusted_proxy_says(
    settings: Settings, trusted: str, proto: str, begins: str
) -> None:
    async with behind(settings, trusted) as world:
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
async def test_a_page_may_sign_in_where_it_came_from(
    settings: Settings, origin: str, host: str, status: int
) -> None:
    async with behind(settings) as world:
        http = await world.browser()
        headers = {"origin": origin, "host": host, "x-forwarded-proto": "https"}
        asked = {"name": "nobody", "password": PASSWORD}
        response = await http.post(SIGN_IN, json=asked, headers=headers)
    assert response.status_code == status


async def test_a_proxy_that_passes_no_host_on_is_recognised_by_what_is_said(
    settings: Settings,
) -> None:
    async with behind(settings) as world:
        http = await world.browser()
        other = await http.post(SIGN_IN, json={}, headers={"origin": "https://chat.example"})
        unknown = await http.get("/", headers={"host": "upstream"})
    assert other.status_code == unknown.status_code == 403
    assert "https://chat.example" in other.json()["detail"]
    assert world.url.removeprefix("http://") in other.json()["detail"]
    assert "asked as upstream" in unknown.json()["detail"]


async def test_a_proxy_that_is_not_trusted_is_named_once(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with behind(settings, "") as world:
        await guesses(world, "203.0.113.1", "203.0.113.2")
    assert caplog.text.count("HITSEND_TRUSTED_PROXIES=127.0.0.1") == 1


async def test_a_proxy_that_hides_https_is_told_of(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with behind(settings) as world:
        http = await world.browser()
        headers = {"origin": "https://chat.example", "host": "chat.example"}
        await http.post(SIGN_IN, json={}, headers=headers)
    assert "X-Forwarded-Proto" in caplog.text


async def test_a_proxy_that_passes_no_upgrade_on_is_told_of(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with behind(settings) as world:
        http = await world.browser()
        await http.get(CONNECT, headers={"sec-websocket-key": "x", "sec-websocket-version": "13"})
    assert "without `Upgrade`" in caplog.text


async def test_of_a_proxy_that_does_it_all_nothing_is_said(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with behind(settings) as world:
        ada = await world.someone("ada")
        ada.http.headers |= {"host": "chat.example", "origin": "https://chat.example"}
        ada.http.headers |= {"x-forwarded-for": "203.0.113.1", "x-forwarded-proto": "https"}
        await ada.http.get(TICKET)
        await ada.send("Hello")
    assert caplog.text == ""


async def test_nobody_on_the_way_is_to_collect_or_compress_a_stream(world: World) -> None:
    ada = await world.someone("ada")
    headers = (await ada.send("Hello")).headers
    assert headers["x-accel-buffering"] == "no"
    assert "no-transform" in headers["cache-control"]
    assert headers["content-encoding"] == "identity"


class Fleeting(Hasty):
    """Hangs up after its answer, unless a proxy is to ask again."""

    idle_s = 0


class FromProxy(Fleeting):
    proxies = Proxies(["127.0.0.1"])


async def test_a_proxy_may_keep_its_connection(world: World) -> None:
    app = build_app(world.house)
    async with hastily(app, FromProxy) as proxied, hastily(app, Fleeting) as direct:
        kept, proxy = await asyncio.open_connection("127.0.0.1", proxied)
        closed, browser = await asyncio.open_connection("127.0.0.1", direct)
        for asking in (proxy, browser):
            asking.write(ASKING + b"\r\n")
        assert (await closed.read()).startswith(b"HTTP/1.1 200 OK")
        await kept.readuntil(b"}")
        proxy.write(ASKING + b"\r\n")
        assert (await kept.readuntil(b"}")).startswith(b"HTTP/1.1 200 OK")
        for asking in (proxy, browser):
            asking.close()


class Lingering(Hasty):
    most_body_bytes = 1_000_000
    rest_s = 60.0


@pytest.mark.parametrize("asks_to", ["HTTP/1.1\r\nconnection: close", "HTTP/1.0"])
async def test_who_sends_far_too_much_is_heard_to_the_end_and_reads_why(
    world: World, asks_to: str
) -> None:
    """nginx reads no answer before it has sent everything, and hangs up after each."""
    num_bytes = 8 * Lingering.most_body_bytes
    head = f"POST {SIGN_IN} {asks_to}\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    asked = f"{head}content-length: {num_bytes}\r\n\r\n".encode() + b" " * num_bytes

    def say_it_all(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(asked)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

    async with hastily(build_app(world.house), Lingering) as port:
        heard = await asyncio.to_thread(say_it_all, port)
    assert heard.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "names", ["", "chat.example", "chat.example, Other.Example", "2001:db8::1"]
)
def test_a_host_is_named_without_anything_else(names: str) -> None:
    check_binding(Settings(allowed_hosts=names))


@pytest.mark.parametrize(
    "name", ["https://chat.example", "chat.example:8443", "[2001:db8::1]:443", "münchen.example"]
)
def test_a_name_no_host_would_be_asked_by_stops_the_start(name: str) -> None:
    with pytest.raises(BadSetting, match="allowed_hosts"):
        check_binding(Settings(allowed_hosts=name))
