"""An HTTP server whose responses a test writes byte for byte."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import msgspec


class Request(msgspec.Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        return msgspec.json.decode(self.body, type=dict[str, object])


Handler = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]
"""Writes the response with its headers. The connection closes when the handler returns."""


class FakeServer:
    """Records its requests."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.url = ""
        self.requests: list[Request] = []
        self.client_left = asyncio.Event()
        """Set when a client closes the connection before its response is complete."""
        self._answering: set[asyncio.Task[None]] = set()

    def requests_to(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._answering.add(asyncio.create_task(self._answer(reader, writer)))

    async def close(self) -> None:
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.IncompleteReadError):  # the client left before its request
                await self._answer_until_closed(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer_until_closed(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        request = await _read_request(reader)
        self.requests.append(request)
        answering = asyncio.ensure_future(self._handler(request, writer))
        leaving = asyncio.ensure_future(reader.read())
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            self.client_left.set()
        leaving.cancel()
        answering.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    method, path, _ = first.split(" ")
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, body)


@asynccontextmanager
async def serving(
    handler: Handler, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[FakeServer, None]:
    fake = FakeServer(handler)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0, ssl=tls)
    host, port = server.sockets[0].getsockname()
    fake.url = f"{'https' if tls else 'http'}://{host}:{port}"
    try:
        yield fake
    finally:
        server.close()
        await fake.close()


def whole(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """Returns a complete response. `retry_after` becomes the header Retry-After."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *lines]
    return "\r\n".join([*lines, "\r\n"]).encode() + body


STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def sse(*values: object) -> bytes:
    """Returns a stream with each value as an event in its own chunk, and `[DONE]`."""
    events = [b"data: %s\n\n" % msgspec.json.encode(value) for value in values]
    return STREAM_HEAD + b"".join(map(chunked, [*events, b"data: [DONE]\n\n", b""]))
