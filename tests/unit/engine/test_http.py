"""The thin HTTP client, against a server that misbehaves in many ways."""

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme
from tests.unit.engine.fake_server import STREAM_HEAD, Request, chunked, serving, whole

from hitsend.engine.http import HttpClient, parse_address
from hitsend.errors import EngineDown, EngineLost, Refused


@asynccontextmanager
async def answering(*pieces: bytes, silence_s: float = 5.0) -> AsyncGenerator[HttpClient, None]:
    """A client of a server that writes these pieces, one by one, and closes the connection."""

    async def write(request: Request, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    async with serving(write) as server:
        http = HttpClient(parse_address(server.url), silence_s=silence_s)
        yield http
        http.close()


async def read_all(http: HttpClient) -> bytes:
    body = b""
    async with http.stream("GET", "/") as stream:
        while more := await stream.read():
            body += more
    return body


async def test_a_response_is_read_completely() -> None:
    async with answering(whole(b"hello", "201 Created", Retry_After="3")) as http:
        response = await http.request("POST", "/", b"{}")
    assert (response.status, response.body, response.headers["retry-after"]) == (201, b"hello", "3")


async def test_chunks_are_joined_wherever_they_are_cut() -> None:
    data = STREAM_HEAD + chunked(b"hello ") + chunked(b"world") + chunked(b"")
    for cut in range(1, len(data)):
        async with answering(data[:cut], data[cut:]) as http:
            assert await read_all(http) == b"hello world"


async def test_data_is_read_only_at_ticks_of_the_clock() -> None:
    interval_s, clock = 0.4, asyncio.get_running_loop().time

    async def write(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(b"a"))
        await writer.drain()
        await asyncio.sleep(1.5 * interval_s - clock() % interval_s)  # nothing at the next tick
        for word in (b"b", b"c", b"d", b""):
            writer.write(chunked(word))
            await writer.drain()
            await asyncio.sleep(0)

    received = []
    async with serving(write) as server, asyncio.timeout(10):
        http = HttpClient(parse_address(server.url))
        async with http.stream("GET", "/") as stream:
            while more := await stream.read():
                received.append(more)
                await stream.wait_for_tick(interval_s)
        http.close()
    assert received == [b"a", b"bcd"]


async def test_data_that_arrives_together_is_one_read() -> None:
    async with (
        answering(STREAM_HEAD + chunked(b"a") + chunked(b"b") + chunked(b"")) as http,
        http.stream("GET", "/") as stream,
    ):
        assert await stream.read() == b"ab"
        assert await stream.read() == b""


async def test_a_response_may_end_with_the_connection() -> None:
    async with answering(b"HTTP/1.1 200 OK\r\n\r\nhello") as http:
        assert await read_all(http) == b"hello"


async def test_an_engine_that_is_not_there_is_down() -> None:
    async with serving(lambda request, writer: asyncio.sleep(0)) as server:
        url = server.url
    with pytest.raises(EngineDown, match="cannot be reached"):
        await HttpClient(parse_address(url)).request("GET", "/")


async def test_an_engine_that_closes_the_connection_without_a_response_is_down() -> None:
    async with answering() as http:
        with pytest.raises(EngineDown, match="hung up"):
            await http.request("GET", "/")


@pytest.mark.parametrize(
    "beginning",
    [STREAM_HEAD + chunked(b"hel"), STREAM_HEAD + b"5\r\nhe", whole(b"hello")[:-1]],
)
async def test_a_truncated_response_is_lost_but_its_beginning_is_read(beginning: bytes) -> None:
    async with answering(beginning) as http, http.stream("GET", "/") as stream:
        assert (await stream.read()).startswith(b"he")
        with pytest.raises(EngineLost, match="hung up in the middle"):
            await stream.read()


async def test_an_engine_that_falls_silent_is_lost() -> None:
    async def fall_silent(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(b"so"))
        await asyncio.Event().wait()

    async with serving(fall_silent) as server:
        http = HttpClient(parse_address(server.url), silence_s=0.5)
        async with asyncio.timeout(30), http.stream("GET", "/") as stream:
            assert await stream.read() == b"so"
            with pytest.raises(EngineLost, match=r"silent for 0\.5 s"):
                await stream.read()


@pytest.mark.parametrize("noise", [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\n" + b"a" * 99_999])
async def test_a_response_that_is_not_http_is_refused(noise: bytes) -> None:
    async with asyncio.timeout(5), answering(noise) as http:
        with pytest.raises(EngineDown, match="answered with"):
            await http.request("GET", "/")


async def test_broken_chunks_are_a_lost_response() -> None:
    async with answering(STREAM_HEAD + chunked(b"fine") + b"not a length\r\n") as http:
        with pytest.raises(EngineLost):
            await read_all(http)


async def test_leaving_the_block_closes_the_connection() -> None:
    async def go_on(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(b"word"))
        await asyncio.Event().wait()

    async with serving(go_on) as server, asyncio.timeout(5):
        async with HttpClient(parse_address(server.url)).stream("GET", "/") as stream:
            await stream.read()
        await server.client_left.wait()


async def test_a_slow_reader_slows_the_engine_and_loses_nothing() -> None:
    piece = chunked(b"x" * 65_536)
    longest, num_bytes = 0, 0
    async with (
        asyncio.timeout(10),
        answering(STREAM_HEAD, *[piece] * 200, chunked(b"")) as http,
        http.stream("GET", "/") as stream,
    ):
        while more := await stream.read():
            longest, num_bytes = max(longest, len(more)), num_bytes + len(more)
            for _ in range(100):
                await asyncio.sleep(0)
    assert num_bytes == 200 * 65_536
    assert longest < 2 * 2**20


async def test_tls_is_used_and_the_certificate_checked() -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"hello"))

    authority = trustme.CA()
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(server_side)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    async with serving(answer, server_side) as server:
        address = parse_address(server.url)
        assert (await HttpClient(address, tls=trusting).request("GET", "/")).body == b"hello"
        with pytest.raises(EngineDown, match="CERTIFICATE_VERIFY_FAILED"):
            await HttpClient(address).request("GET", "/")


class KeepsAlive:
    """A server that answers several requests on one connection."""

    def __init__(self, num_answers: int) -> None:
        self.connections: list[asyncio.Task[None]] = []
        self._num_answers = num_answers

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(asyncio.create_task(self._answer(reader, writer)))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(self._num_answers):
            if not await reader.readline():
                break
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(("num_answers", "num_connections"), [(10, 1), (1, 4)])
async def test_connections_are_reused_unless_the_engine_closed_them(
    tmp_path: Path, num_answers: int, num_connections: int
) -> None:
    keeps_alive = KeepsAlive(num_answers)
    server = await asyncio.start_unix_server(keeps_alive.serve, tmp_path / "engine.sock")
    http = HttpClient(parse_address(f"unix:{tmp_path / 'engine.sock'}"), key="secret")
    for _ in range(4):
        assert (await http.request("GET", "/")).body == b"ok"
    assert len(keeps_alive.connections) == num_connections
    http.close()
    server.close()
    await asyncio.wait(keeps_alive.connections, timeout=5)


class Ghost:
    """Answers the first request of a connection, and reads later ones without answering them."""

    def __init__(self, close_after_s: float | None) -> None:
        self.num_requests = 0
        self._close_after_s = close_after_s
        self.connections: list[asyncio.Task[None]] = []

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(asyncio.create_task(self._answer(reader, writer)))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._read(reader)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await self._read(reader)
            if self._close_after_s is None:
                await asyncio.Event().wait()
            else:
                await asyncio.sleep(self._close_after_s)
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.num_requests += 1


@asynccontextmanager
async def haunted(close_after_s: float | None) -> AsyncGenerator[tuple[HttpClient, Ghost], None]:
    ghost = Ghost(close_after_s)
    server = await asyncio.start_server(ghost.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    http = HttpClient(parse_address(f"http://{host}:{port}"), silence_s=0.3)
    assert (await http.request("POST", "/", b"")).body == b"ok"
    yield http, ghost
    http.close()
    server.close()
    for connection in ghost.connections:
        connection.cancel()
    await asyncio.wait(ghost.connections, timeout=5)


@pytest.mark.parametrize(
    ("close_after_s", "words"),
    [(None, "silent for 0.3 s"), (0.2, "hung up"), (0.0, "hung up")],
)
async def test_what_starts_an_answer_is_never_sent_twice_once_a_byte_was_sent(
    monkeypatch: pytest.MonkeyPatch, close_after_s: float | None, words: str
) -> None:
    monkeypatch.setattr("hitsend.engine.http.SETTLED_S", 0.0)
    async with haunted(close_after_s) as (http, ghost):
        with pytest.raises(EngineDown, match=words):
            await read_all(http)
        assert ghost.num_requests == 2


async def test_a_connection_that_was_used_a_moment_ago_starts_no_answer() -> None:
    """The engine may close it without having said so: then nobody could tell what it has read."""
    async with haunted(0.0) as (http, ghost):
        assert await read_all(http) == b"ok"
        assert ghost.num_requests == 2
        assert len(ghost.connections) == 2


async def test_where_an_engine_keeps_its_connections_they_start_answers_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("hitsend.engine.http.SETTLED_S", 0.05)
    keeps_alive = KeepsAlive(num_answers=10)
    server = await asyncio.start_unix_server(keeps_alive.serve, tmp_path / "engine.sock")
    http = HttpClient(parse_address(f"unix:{tmp_path / 'engine.sock'}"), key="secret")
    assert await read_all(http) == b"ok"
    await asyncio.sleep(0.06)
    for _ in range(5):
        assert await read_all(http) == b"ok"
    assert len(keeps_alive.connections) == 1
    http.close()
    server.close()
    await asyncio.wait(keeps_alive.connections, timeout=5)


async def test_other_requests_are_sent_again_where_the_connection_closed() -> None:
    async with haunted(0.0) as (http, ghost):
        assert (await http.request("POST", "/", b"")).body == b"ok"
        assert ghost.num_requests == 3


async def test_so_is_a_stream_that_starts_no_answer() -> None:
    async with haunted(0.0) as (http, ghost):
        async with http.stream("POST", "/", b"", starts_answer=False) as stream:
            assert await stream.read() == b"ok"
        assert ghost.num_requests == 3


async def test_they_are_not_sent_again_after_a_silence() -> None:
    async with haunted(None) as (http, ghost):
        with pytest.raises(EngineDown, match="silent"):
            await http.request("POST", "/", b"")
        assert ghost.num_requests == 2


def answer_once_and_close(
    listener: socket.socket, may_close: threading.Event, has_closed: threading.Event
) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        may_close.wait(5)
    has_closed.set()


async def test_a_connection_that_the_engine_closed_is_not_used_though_no_event_said_so() -> None:
    """The event loop is kept from noticing the end of the idle connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        http = HttpClient(parse_address("http://{}:{}".format(*listener.getsockname())))
        for _ in range(2):
            may_close, has_closed = threading.Event(), threading.Event()
            thread = threading.Thread(
                target=answer_once_and_close, args=(listener, may_close, has_closed)
            )
            thread.start()
            async with asyncio.timeout(5):
                assert (await http.request("POST", "/", b"")).body == b"ok"
            may_close.set()
            assert has_closed.wait(5)
            thread.join()
        http.close()


@pytest.mark.parametrize("beginning", [b"", STREAM_HEAD])
async def test_a_stream_without_data_has_its_own_silence_limit(beginning: bytes) -> None:
    async def fall_silent(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        await asyncio.Event().wait()

    async with serving(fall_silent) as server, asyncio.timeout(5):
        http = HttpClient(parse_address(server.url), silence_s=60, first_silence_s=0.2)
        with pytest.raises(EngineLost if beginning else EngineDown, match=r"silent for 0\.2 s"):
            await read_all(http)


async def test_after_its_first_data_a_stream_has_the_longer_limit() -> None:
    async def pause(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(b"a"))
        await asyncio.sleep(0.4)
        writer.write(chunked(b"b") + chunked(b""))

    async with serving(pause) as server, asyncio.timeout(5):
        http = HttpClient(parse_address(server.url), silence_s=60, first_silence_s=0.1)
        assert await read_all(http) == b"ab"


async def test_a_stream_behind_another_may_be_queued_and_has_the_longer_limit() -> None:
    is_answering = asyncio.Event()

    async def answer_slowly(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        if is_answering.is_set():
            await asyncio.sleep(0.4)
        else:
            writer.write(chunked(b"a"))
            is_answering.set()
            await asyncio.sleep(0.5)
        writer.write(chunked(b"b") + chunked(b""))

    async with serving(answer_slowly) as server, asyncio.timeout(5):
        http = HttpClient(parse_address(server.url), silence_s=60, first_silence_s=0.1)
        async with http.stream("GET", "/") as first:
            await is_answering.wait()
            assert await first.read() == b"a"
            assert await read_all(http) == b"b"


async def test_the_key_is_sent() -> None:
    async def echo(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(request.headers["authorization"].encode()))

    async with serving(echo) as server:
        response = await HttpClient(parse_address(server.url), key="secret").request("GET", "/")
    assert response.body == b"Bearer secret"


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x", "http://", "http://x:port", "unix:"])
def test_a_bad_address_is_refused(url: str) -> None:
    with pytest.raises(Refused, match="not an address"):
        parse_address(url)
