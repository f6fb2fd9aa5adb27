"""The HTTP transport that connects only to checked addresses, and bounds what comes back."""

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpcore2
import httpx2

from hitsend.egress.destinations import Destinations, check_form
from hitsend.errors import DestinationRefused, TooLarge, Unavailable

PER_ADDRESS_S = 2.0
"""Longest try of an address if the name has another one."""
READ_BYTES = 4096
"""One read. Many tiny events in it are parsed without a pause for other work."""
MAX_HEAD_BYTES = 262_144
"""Limits everything before a body. h11 takes 100 kB of headers, and any number of 1xx answers."""
MIN_PIECE_BYTES = 256
"""A smaller piece of a body counts as this many bytes: each piece costs time, however small."""
GZIP_MAGIC = b"\x1f\x8b"
UNPACKED_BYTES = 65_536
"""Unpacked at a time."""
CORE_ERRORS = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Speaks HTTP/1.1, without proxies. Every request is checked, so redirects are too."""

    def __init__(
        self, destinations: Destinations, tls: ssl.SSLContext, max_bytes: int | None
    ) -> None:
        self._max_bytes = max_bytes
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls, keepalive_expiry=30.0, network_backend=GuardedBackend(destinations)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        check_form(request.url)
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        request.headers["Accept-Encoding"] = "gzip"
        url = request.url
        try:
            response = await self._pool.handle_async_request(
                httpcore2.Request(
                    request.method,
                    httpcore2.URL(
                        scheme=url.raw_scheme,
                        host=url.raw_host,
                        port=url.port,
                        target=url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions={"timeout": request.extensions.get("timeout", {})},
                )
            )
        except CORE_ERRORS as error:
            raise _translate(error) from error
        body = Body(response, self._max_bytes)
        stream = response.extensions["network_stream"]
        assert isinstance(stream, BoundedStream)
        stream.expect_body()
        async with AsyncExitStack() as unless_read:
            unless_read.push_async_callback(body.aclose)
            headers = body.read_headers()
            unless_read.pop_all()
        return httpx2.Response(
            response.status, headers=headers, stream=body, extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class Body(httpx2.AsyncByteStream):
    """The body of a response, unpacked here: httpx2 would unpack a chunk of 64 kB to 64 MB."""

    def __init__(self, response: httpcore2.Response, max_bytes: int | None) -> None:
        self._response = response
        self._max_bytes = max_bytes
        self._num_received = 0
        self._num_unpacked = 0
        self._gzip: zlib._Decompress | None = None

    def read_headers(self) -> httpx2.Headers:
        """Returns the headers without those that describe how the body was packed."""
        headers = httpx2.Headers(self._response.headers)
        encoding = headers.pop("Content-Encoding", "identity").strip().lower()
        if encoding in ("gzip", "x-gzip"):
            self._gzip = _open_gzip()
        elif encoding not in ("", "identity"):
            raise Unavailable("The server answered in an encoding that it was not asked for.")
        length = headers.pop("Content-Length", "")
        if length.isdigit() and self._max_bytes is not None and int(length) > self._max_bytes:
            raise self._too_large()
        return headers

    async def __aiter__(self) -> AsyncIterator[bytes]:
        num_pieces = 0
        try:
            async for piece in self._response.aiter_stream():
                num_pieces += 1
                if num_pieces % 32 == 0:
                    await asyncio.sleep(0)  # pieces that have arrived come without a pause
                self._num_received += max(len(piece), MIN_PIECE_BYTES)
                self._check(self._num_received)
                for part in self._unpack(piece):
                    self._num_unpacked += len(part)
                    self._check(self._num_unpacked)
                    yield part
                    await asyncio.sleep(0)
        except CORE_ERRORS as error:
            raise _translate(error) from error
        except zlib.error:
            raise Unavailable("The server sent gzip that cannot be unpacked.") from None
        if self._gzip is not None and not self._gzip.eof and self._num_received:
            raise Unavailable("The server's answer ended too early.")

    def _unpack(self, piece: bytes) -> Iterator[bytes]:
        if self._gzip is None:
            yield piece
            return
        while piece:
            if self._gzip.eof and not piece.startswith(GZIP_MAGIC):
                return  # browsers ignore what follows, too
            if self._gzip.eof:
                self._gzip = _open_gzip()
            yield self._gzip.decompress(piece, UNPACKED_BYTES)
            piece = self._gzip.unconsumed_tail or self._gzip.unused_data

    def _check(self, num_bytes: int) -> None:
        if self._max_bytes is not None and num_bytes > self._max_bytes:
            raise self._too_large()

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The answer is larger than {self._max_bytes:,} bytes.")

    async def aclose(self) -> None:
        await self._response.aclose()


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves a name once, and connects to one of the addresses that were checked."""

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                *others, last = await self._destinations.resolve(host, port)
                for address in others:
                    try:
                        return await self._connect(str(address), port, PER_ADDRESS_S)
                    except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                        continue
                return await self._connect(str(last), port, None)
        except TimeoutError:
            raise httpcore2.ConnectTimeout from None

    async def _connect(
        self, address: str, port: int, timeout: float | None
    ) -> httpcore2.AsyncNetworkStream:
        return BoundedStream(await self._network.connect_tcp(address, port, timeout))

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise DestinationRefused("Unix sockets are not opened.")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class BoundedStream(httpcore2.AsyncNetworkStream):
    """A connection that reads little at a time, and a bounded amount before a body."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._num_head_bytes: int | None = 0

    def expect_body(self) -> None:
        self._num_head_bytes = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        received = await self._stream.read(min(max_bytes, READ_BYTES), timeout)
        if self._num_head_bytes is not None:
            self._num_head_bytes += len(received)
            if self._num_head_bytes > MAX_HEAD_BYTES:
                raise httpcore2.RemoteProtocolError("too many headers")
        return received

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._num_head_bytes = 0
        await self._stream.write(buffer, timeout)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _open_gzip() -> "zlib._Decompress":
    return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)


def _translate(error: Exception) -> httpx2.TransportError:
    """httpx2 has an error of the same name for each of httpcore2."""
    kind: type[httpx2.TransportError] = getattr(httpx2, type(error).__name__)
    return kind(str(error))
