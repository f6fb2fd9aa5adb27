"""Responses are bounded in bytes, pieces, headers, redirects and time."""

import asyncio
import gzip
import ssl
import zlib

import httpx2
import pytest
import trustme
from tests.unit.engine.fake_server import Handler, Request, chunked, serving, whole

from hitsend.egress import Egress, Limits, parse_trusted
from hitsend.errors import DestinationRefused, TooLarge, Unavailable

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
SMALL = Limits(max_bytes=100_000)


async def fetch(handler: Handler, limits: Limits = SMALL, path: str = "/") -> httpx2.Response:
    async with serving(handler) as server:
        egress = Egress([parse_trusted(server.url.removeprefix("http://"))])
        url = httpx2.URL(server.url + path)
        return await egress.get(url, {}, limits=limits, follows_redirects=True)


def always(response: bytes) -> Handler:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(response)
        await writer.drain()

    return answer


def repeat(head: bytes, part: bytes) -> Handler:
    """Sends the part again and again, until the client has left."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(part)
            await writer.drain()

    return answer


async def test_a_body_arrives_whole_with_its_status_and_type() -> None:
    response = await fetch(always(whole(b"page", "404 Not Found", Content_Type="text/html")))
    assert (response.status_code, response.content) == (404, b"page")
    assert response.headers["content-type"] == "text/html"


async def test_gzip_is_unpacked_also_in_several_members_and_before_padding() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 9
    response = await fetch(always(whole(packed, Content_Encoding="gzip")))
    assert response.content == b"one two"
    assert "content-encoding" not in response.headers


async def test_an_empty_body_may_claim_to_be_gzip() -> None:
    assert (await fetch(always(whole(b"", Content_Encoding="x-gzip")))).content == b""


BOMB = gzip.compress(b"\0" * 100_000_000)


@pytest.mark.parametrize(
    "handler",
    [
        always(whole(b"\0" * 100_001)),
        repeat(b"HTTP/1.1 200 OK\r\n\r\n", b"\0" * 10_000),
        repeat(CHUNKED + b"\r\n", chunked(b"\0" * 10_000)),
        always(CHUNKED + b"\r\n" + chunked(b"x") * 1000 + chunked(b"")),
        always(whole(BOMB, Content_Encoding="gzip")),
        always(CHUNKED + b"Content-Encoding: gzip\r\n\r\n" + chunked(BOMB) + chunked(b"")),
        always(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 999999\r\n\r\n"),
    ],
    ids=["length", "no length", "chunks", "tiny chunks", "bomb", "chunked bomb", "redirect"],
)
async def test_a_body_beyond_the_limit_is_refused(handler: Handler) -> None:
    with pytest.raises(TooLarge, match="larger than 100,000 bytes"):
        await fetch(handler)


async def test_a_bomb_is_unpacked_in_small_parts() -> None:
    async with serving(always(whole(BOMB, Content_Encoding="gzip"))) as server:
        egress = Egress([parse_trusted(server.url.removeprefix("http://"))])
        async with egress.client(SMALL) as client, client.stream("GET", server.url) as response:
            parts: list[int] = []
            with pytest.raises(TooLarge):
                parts.extend([len(part) async for part in response.aiter_bytes()])
    assert sum(parts) <= 100_000


@pytest.mark.parametrize(
    "handler",
    [
        always(whole(b"no gzip", Content_Encoding="gzip")),
        always(whole(gzip.compress(b"x" * 999)[:-20], Content_Encoding="gzip")),
        always(whole(zlib.compress(b"page"), Content_Encoding="br")),
        always(whole(gzip.compress(gzip.compress(b"page")), Content_Encoding="gzip, gzip")),
        always(b"SSH-2.0-OpenSSH\r\n"),
        always(b""),
        always(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
        always(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
        always(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n"),
        always(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 500_000 + b"\r\n\r\n"),
        always(b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000 + whole(b"page")),
        always(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
        always(b"HTTP/1.1 302 Found\r\nLocation: http://a:b/\r\nContent-Length: 0\r\n\r\n"),
    ],
    ids=["no gzip", "cut gzip", "br", "twice", "ssh", "nothing", "cut", "length"]
    + ["headers", "header", "1xx", "circle", "location"],
)
async def test_no_proper_answer_is_an_error_that_names_no_internals(handler: Handler) -> None:
    with pytest.raises(Unavailable, match=r"^(127\.0\.0\.1|The server)"):
        await fetch(handler)


@pytest.mark.parametrize(
    "limits", [Limits(total_s=0.3), Limits(silence_s=0.3)], ids=["total", "silence"]
)
async def test_a_server_that_never_ends_its_answer_is_given_up(limits: Limits) -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        await asyncio.Event().wait()

    with pytest.raises(Unavailable, match="took too long"):
        await fetch(answer, limits)


async def test_a_server_that_drips_is_given_up() -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.02)

    with pytest.raises(Unavailable, match="took too long"):
        await fetch(answer, Limits(total_s=0.5, silence_s=0.3))


async def test_each_request_is_checked_redirected_ones_too() -> None:
    checked: list[str] = []

    async def check(request: httpx2.Request) -> None:
        checked.append(request.url.path)
        if request.url.path == "/secret":
            raise DestinationRefused("no")

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        target = {"/": "/next", "/next": "/secret"}[request.path]
        writer.write(whole(b"", "302 Found", Location=target))

    async with serving(answer) as server:
        egress = Egress([parse_trusted(server.url.removeprefix("http://"))])
        url = httpx2.URL(server.url)
        with pytest.raises(DestinationRefused):
            await egress.get(url, {}, follows_redirects=True, check_request=check)
    assert checked == ["/", "/next", "/secret"]
    assert [request.path for request in server.requests] == ["/", "/next"]


async def test_cookies_of_one_fetch_are_not_sent_with_the_next() -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"", Set_Cookie="visitor=1"))

    async with serving(answer) as server:
        egress = Egress([parse_trusted(server.url.removeprefix("http://"))])
        for _ in range(2):
            await egress.get(httpx2.URL(server.url), {})
        assert ["cookie" in request.headers for request in server.requests] == [False, False]


async def test_what_listens_nowhere_cannot_be_reached() -> None:
    async with serving(always(b"")) as server:
        url = server.url
    with pytest.raises(Unavailable, match="cannot be reached"):
        await Egress([parse_trusted(url.removeprefix("http://"))]).get(httpx2.URL(url), {})


async def test_a_certificate_of_a_stranger_is_not_accepted() -> None:
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    async with serving(always(whole(b"page")), tls) as server:
        egress = Egress([parse_trusted(server.url.removeprefix("https://"))])
        with pytest.raises(Unavailable, match="no certificate that this server trusts"):
            await egress.get(httpx2.URL(server.url), {})


async def test_the_next_address_is_tried_if_one_does_not_answer() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async with serving(always(whole(b"page"))) as server:
        port = server.url.rpartition(":")[2]
        egress = Egress([parse_trusted(f"two.test:{port}")], resolve=resolve)
        response = await egress.get(httpx2.URL(f"http://two.test:{port}/"), {})
    assert response.content == b"page"
