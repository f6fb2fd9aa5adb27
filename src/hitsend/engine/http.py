"""A thin HTTP/1.1 client for engines, over TCP, TLS or a Unix socket.

`read` returns everything that arrived since the last read, so several tokens cost one read. A
general client (httpx2) took 55 µs for a read of one token, this one takes 15. It does not know
JSON or models.
"""

import asyncio
import select
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import urlsplit

import httptools
import msgspec

from hitsend.errors import EngineDown, EngineLost, Refused

CONNECT_S = 10.0
SETTLED_S = 0.2
"""An engine that closes its connections after a response without saying so has done it by then."""
MAX_HEADER_BYTES = 65_536
MAX_UNREAD_BYTES = 2**20
MAX_RESPONSE_BYTES = 64 * 2**20
MAX_IDLE_CONNECTIONS = 8


class Address(msgspec.Struct, frozen=True):
    """The address of an engine. `socket`, a Unix socket, takes precedence over host and port."""

    host: str
    port: int = 80
    prefix: str = ""
    is_tls: bool = False
    socket: Path | None = None


def parse_address(url: str) -> Address:
    """Parses `http://host:port/prefix`, `https://…` or `unix:/path/of.sock`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused(f"{url!r} is not an address: {error}.") from None
    if parts.scheme == "unix" and parts.path:
        return Address("localhost", socket=Path(parts.path))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused(f"{url!r} is not an address such as http://localhost:8080.")
    is_tls = parts.scheme == "https"
    return Address(parts.hostname, port or (443 if is_tls else 80), parts.path.rstrip("/"), is_tls)


class Response(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes


class HttpClient:
    """The client of one engine. Keeps idle connections for reuse."""

    def __init__(
        self,
        address: Address,
        key: str | None = None,
        silence_s: float = 300.0,
        tls: ssl.SSLContext | None = None,
        first_silence_s: float | None = None,
    ) -> None:
        """`silence_s` is the read timeout: an engine that sends nothing for so long is lost.
        `first_silence_s` is that of a stream before its first data, unless another stream is open:
        then the engine may have queued the request."""
        self._address = address
        self._silence_s = silence_s
        self._first_silence_s = silence_s if first_silence_s is None else first_silence_s
        self._num_streams = 0
        self._authorization = f"Authorization: Bearer {key}\r\n" if key else ""
        self._idle: list[_Connection] = []
        self._keeps_open = False
        """Whether this engine is known to leave connections open after a response."""
        self._tls = tls

    async def request(self, method: str, path: str, body: bytes = b"") -> Response:
        """Sends the request again where the connection closed without a response: it must not start
        an answer."""
        connection = await self._send_twice(method, path, body, self._silence_s)
        try:
            pieces, num_bytes = [], 0
            while piece := await connection.read():
                pieces.append(piece)
                num_bytes += len(piece)
                if num_bytes > MAX_RESPONSE_BYTES:
                    raise EngineLost("The engine's response is too large.")
        finally:
            self._release(connection)
        return Response(connection.status, connection.headers, b"".join(pieces))

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, body: bytes = b"", *, starts_answer: bool = True
    ) -> AsyncGenerator["ResponseStream", None]:
        """A request that starts an answer is sent once: an engine that hangs up may have begun with
        it. Leaving the block before the end of the response closes the connection, which makes the
        engine stop generating."""
        first_silence_s = self._silence_s if self._num_streams else self._first_silence_s
        self._num_streams += 1
        try:
            if starts_answer:
                sending = self._send(method, path, body, first_silence_s, must_be_open=True)
            else:
                sending = self._send_twice(method, path, body, first_silence_s)
            connection = await sending
            try:
                yield connection
            finally:
                self._release(connection)
        finally:
            self._num_streams -= 1

    def close(self) -> None:
        while self._idle:
            self._idle.pop().abort()

    async def _send_twice(
        self, method: str, path: str, body: bytes, first_silence_s: float
    ) -> "_Connection":
        try:
            return await self._send(method, path, body, first_silence_s)
        except _NoResponse:
            self.close()  # the other idle connections are as old
            return await self._send(method, path, body, first_silence_s)

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes,
        first_silence_s: float,
        *,
        must_be_open: bool = False,
    ) -> "_Connection":
        request = self._head(method, path, len(body)) + body
        connection = self._take_idle(must_be_open) or await self._connect()
        await connection.send(request, self._silence_s, first_silence_s)
        return connection

    def _take_idle(self, must_be_open: bool) -> "_Connection | None":
        """Returns an idle connection that the engine has not closed, as far as this machine knows:
        on a closed one no byte would be sent. With `must_be_open`, one that was used a moment ago
        counts only where the engine is known to keep its connections."""
        too_fresh: list[_Connection] = []
        taken: _Connection | None = None
        while self._idle and taken is None:
            connection = self._idle.pop()
            if not connection.is_reusable or connection.has_input():
                self._keeps_open &= connection.idle_s() >= SETTLED_S
                connection.abort()
            elif connection.idle_s() >= SETTLED_S:
                self._keeps_open = True
                taken = connection
            elif self._keeps_open or not must_be_open:
                taken = connection
            else:
                too_fresh.append(connection)
        self._idle += reversed(too_fresh)
        return taken

    def _head(self, method: str, path: str, num_bytes: int) -> bytes:
        address = self._address
        return (
            f"{method} {address.prefix}{path} HTTP/1.1\r\nHost: {address.host}:{address.port}\r\n"
            f"{self._authorization}Content-Type: application/json\r\nAccept-Encoding: identity\r\n"
            f"Content-Length: {num_bytes}\r\n\r\n"
        ).encode()

    async def _connect(self) -> "_Connection":
        loop, address = asyncio.get_running_loop(), self._address
        if address.is_tls and self._tls is None:
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        try:
            async with asyncio.timeout(CONNECT_S):
                if address.socket:
                    _, protocol = await loop.create_unix_connection(
                        _Connection, str(address.socket)
                    )
                else:
                    _, protocol = await loop.create_connection(
                        _Connection, address.host, address.port, ssl=self._tls
                    )
        except TimeoutError:
            raise EngineDown("The engine cannot be reached: it does not answer.") from None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise EngineDown(f"The engine cannot be reached: {reason}.") from error
        return protocol

    def _release(self, connection: "_Connection") -> None:
        if connection.is_reusable and len(self._idle) < MAX_IDLE_CONNECTIONS:
            self._idle.append(connection)
        else:
            connection.abort()


class ResponseStream(Protocol):
    """A response whose body is still arriving."""

    status: int
    headers: dict[str, str]

    async def read(self) -> bytes:
        """Returns everything that arrived since the last read; empty at the end. Raises
        EngineLost."""

    def keep_first_silence(self) -> None:
        """Applies the silence limit of a stream without data once more: what arrived so far was
        no token."""

    async def wait_for_tick(self, interval_s: float) -> None:
        """Leaves incoming data in the socket, so that it does not wake this process, until the
        first tick of the clock at which there is some."""


class _NoResponse(EngineDown):
    """The connection closed before the first byte of the response."""


class _Connection(asyncio.Protocol):
    """One connection, and the response that is arriving on it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._silence_timer: asyncio.TimerHandle | None = None
        self._is_open = False
        self._closed_at: float | None = None
        self._reset(0.0, 0.0)

    def _reset(self, silence_s: float, first_silence_s: float) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._num_unread_bytes = 0
        self._num_bytes = 0
        self._is_paused = False
        self._is_complete = False
        self._keeps_alive = False
        self._failure: EngineDown | EngineLost | None = None
        self._silence_s = self._first_silence_s = first_silence_s
        self._later_silence_s = silence_s
        self._received_at = self._loop.time()

    @property
    def is_reusable(self) -> bool:
        return self._is_open and self._is_complete and self._keeps_alive and not self._pieces

    def idle_s(self) -> float:
        """For how long it is idle, or was until the engine closed it."""
        return (self._closed_at or self._loop.time()) - self._received_at

    def has_input(self) -> bool:
        """Whether something came without a request, which on an idle connection is its end. Asks
        the system: the event loop may not have noticed it yet."""
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    async def send(self, request: bytes, silence_s: float, first_silence_s: float) -> None:
        """Sends a request and waits for the response headers."""
        self._reset(silence_s, first_silence_s)
        self._silence_timer = self._loop.call_later(first_silence_s, self._check_silence)
        self._transport.write(request)
        try:
            while not self.status:
                await self._wait()
        finally:
            if not self.status:
                self.abort()

    async def read(self) -> bytes:
        while not self._pieces:
            if self._is_complete:
                return b""
            await self._wait()
        arrived = b"".join(self._pieces)
        self._pieces.clear()
        self._num_unread_bytes = 0
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        return arrived

    def keep_first_silence(self) -> None:
        self._silence_s = self._first_silence_s

    async def wait_for_tick(self, interval_s: float) -> None:
        while self._is_open and not (self._pieces or self._is_complete or self._is_paused):
            self._transport.pause_reading()
            try:
                await asyncio.sleep(interval_s - self._loop.time() % interval_s)
            finally:
                if self._is_open:
                    self._transport.resume_reading()
            for _ in range(2):  # the event loop reads what is there
                await asyncio.sleep(0)

    def abort(self) -> None:
        self._is_open = False
        self._stop_timer()
        self._transport.abort()

    async def _wait(self) -> None:
        if self._failure:
            raise self._failure
        if not self._is_open:
            raise _NoResponse("The engine hung up.")
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, what: str) -> None:
        """Keeps the first failure. Data that arrived before it can still be read."""
        if self._failure is None and not self._is_complete:
            self._failure = self._failure_kind()(f"The engine {what}.")
        self._stop_timer()
        self._wake()

    def _failure_kind(self) -> type[EngineDown | EngineLost]:
        if self.status:
            return EngineLost
        return EngineDown if self._is_open or self._num_bytes else _NoResponse

    def _check_silence(self) -> None:
        left_s = self._received_at + self._silence_s - self._loop.time()
        if self._is_paused or left_s > 0:
            self._silence_timer = self._loop.call_later(max(left_s, 1.0), self._check_silence)
        else:
            self._fail(f"was silent for {self._silence_s:g} s")
            self.abort()

    def _stop_timer(self) -> None:
        if self._silence_timer:
            self._silence_timer.cancel()
            self._silence_timer = None

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._is_open = True

    def data_received(self, data: bytes) -> None:
        if self._is_complete:
            self.abort()  # data without a request
            return
        self._received_at = self._loop.time()
        self._num_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail("answered with something that is not HTTP")
            self.abort()
        if not self.status and self._num_bytes > MAX_HEADER_BYTES:
            self._fail("answered with too long a head")
            self.abort()
        if self._num_unread_bytes > MAX_UNREAD_BYTES and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_open = False
        self._closed_at = self._loop.time()
        if self.status and error is None and self._ends_with_connection():
            self.on_message_complete()
        self._fail("hung up in the middle of an answer" if self._num_bytes else "hung up")

    def _ends_with_connection(self) -> bool:
        return not {"content-length", "transfer-encoding"} & self.headers.keys()

    # Called by the parser.

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)
        self._num_unread_bytes += len(body)
        self._silence_s = self._later_silence_s

    def on_message_complete(self) -> None:
        self._is_complete = True
        self._keeps_alive = bool(self._parser.should_keep_alive())
        self._stop_timer()
        self._wake()
