"""The HTTP connection: uvicorn's, with limits and timeouts for slow clients.

Without them a client could hold memory and connections by never finishing a request (slowloris), or
by never reading a response. `connection_limits` shares the room between clients.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import ClassVar, cast

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from hitsend.server.edge.connection_limits import ConnectionLimits, Place
from hitsend.server.edge.forwarded_headers import TrustedProxies, network_of
from hitsend.server.turns.socket.transport import SocketProtocol

MAX_HEADER_BYTES = 65_536
MAX_UNSENT_BYTES = 65_536
TCP_USER_TIMEOUT_MS = 60_000

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
EVICTED = (
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
FORWARDED = b"x-forwarded-for"
REFUSAL = "hitsend.refusal"
"""Where the state of a request's scope holds the error to answer it with, if there is no room for
its connection. Only health probes are answered all the same."""


class Connection(HttpToolsProtocol):
    headers_s: ClassVar[float] = 10.0
    body_s: ClassVar[float] = 120.0
    """For each `body_step` bytes of a body."""
    body_step: ClassVar[int] = 1_048_576
    max_body_bytes: ClassVar[int] = 268_435_456
    """A larger body closes the connection, unless it is answered already. The limit has some room,
    so that the route can answer a body that is slightly too large."""
    rest_s: ClassVar[float] = 5.0
    """For the rest of a body after its response: the client needs time to read that."""

    reserved_s: ClassVar[float] = 2.0
    """For the headers of a connection for which there is no room."""

    stuck_s: ClassVar[float] = 60.0
    """For a client to read any of the bytes that wait for it."""

    idle_s: ClassVar[int] = 5
    """Between a response and the next request."""
    proxy_idle_s: ClassVar[int] = 150
    """Longer than proxies keep a connection (nginx 60 s, Caddy 120 s). If we closed one just as a
    proxy uses it, the client would get a 502."""
    proxies: ClassVar[TrustedProxies] = TrustedProxies(())
    limits: ClassVar[ConnectionLimits]

    _place: Place

    _in_headers = True
    _closes_after_body = False
    _num_body_bytes = 0
    _num_header_bytes = 0
    _answering: RequestResponseCycle | None = None
    _request_timeout: asyncio.TimerHandle | None = None
    _read_timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        _limit_unsent(transport)
        _limit_unacked_time(transport)
        host = self.client[0] if self.client else ""
        is_proxy = self.proxies.is_trusted(host)
        self.timeout_keep_alive = self.proxy_idle_s if is_proxy else self.idle_s
        self._place = Place(self, self.limits, network_of(host), is_proxy=is_proxy)
        self._set_request_timeout(self.reserved_s if self._place.refusal else self.headers_s)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answering is not None:  # uvicorn tells only the last of pipelined requests
            self._answering.disconnected = True
            self._answering.message_event.set()
        self._set_request_timeout(None)
        self._set_read_timeout(None)
        self._place.leave()
        super().connection_lost(exc)

    def evict(self) -> None:
        is_answered = self.cycle is not None and self.cycle.response_started
        is_begun = bool(self._num_header_bytes) if self._in_headers else not is_answered
        if is_begun:  # else the client expects no response
            self.transport.write(EVICTED)
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._set_read_timeout(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._set_read_timeout(None)

    def data_received(self, data: bytes) -> None:
        if self._in_headers:
            data = self._receive_headers(data)
        if data and not self.transport.is_closing():
            super().data_received(data)

    def on_headers_complete(self) -> None:
        self._in_headers, self._num_body_bytes = False, 0
        refusal = self._place.begin_request(self._find_client)
        self.scope["state"] = self.app_state = {REFUSAL: refusal} if refusal else {}
        self._set_request_timeout(self.body_s)
        super().on_headers_complete()
        if self.cycle is not None and self._place.refusal:
            self.cycle.keep_alive = False
        if self.cycle is not None and not self.cycle.keep_alive:
            self.cycle.transport = _DeferredClose(self.transport, self._close_after_body)

    def on_body(self, body: bytes) -> None:
        steps_before = self._num_body_bytes // self.body_step
        self._num_body_bytes += len(body)
        if self._is_answered:
            return  # the rest is dropped, and `rest_s` is running
        self._place.hold_arriving(self._num_body_bytes)
        if self._num_body_bytes > self.max_body_bytes + self.body_step:
            self.transport.close()
        elif self._num_body_bytes // self.body_step > steps_before:
            self._set_request_timeout(self.body_s)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_headers, self._num_header_bytes, self._num_body_bytes = True, 0, 0
        # After an early response uvicorn has no timeout for the next request.
        self._set_request_timeout(self.headers_s if self._is_answered else None)
        super().on_message_complete()
        if self._closes_after_body:
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._place.end_request()
        if not self._in_headers and self._is_answered:
            self._set_request_timeout(self.rest_s)

    def handle_websocket_upgrade(self) -> None:
        self._set_request_timeout(None)  # the socket has timeouts of its own
        self._set_read_timeout(None)
        super().handle_websocket_upgrade()
        cast(SocketProtocol, self.transport.get_protocol()).on_lost = self._place.detach()

    def _close_after_body(self) -> None:
        """Waits for the rest of a body that is still arriving: closing resets the connection then,
        and the client would not read the response. nginx answers 502 in that case."""
        if self._in_headers or not self._is_answered:
            self.transport.close()
        else:
            self._closes_after_body = True

    def _find_client(self) -> str:
        """Returns the address that a proxied request counts for."""
        values = [value.decode("latin-1") for name, value in self.headers if name == FORWARDED]
        return network_of(self.proxies.find_client(",".join(values)))

    @property
    def _is_answered(self) -> bool:
        """The request whose body is arriving has its response already."""
        return self.cycle is not None and self.cycle.response_complete

    def _receive_headers(self, data: bytes) -> bytes:
        """Returns the rest of `data`, which may be the start of the body."""
        if self._request_timeout is None:  # the first bytes of a further request
            self._set_request_timeout(self.headers_s)
        num_left = MAX_HEADER_BYTES - self._num_header_bytes
        self._num_header_bytes += len(data[:num_left])
        super().data_received(data[:num_left])
        if self._in_headers and self._num_header_bytes == MAX_HEADER_BYTES:
            self.transport.write(TOO_LARGE)
            self.transport.close()
        return data[num_left:]

    def _set_request_timeout(self, seconds: float | None) -> None:
        if self._request_timeout is not None:
            self._request_timeout.cancel()
        self._request_timeout = None
        if seconds is None:
            self._place.free_arriving()
        else:
            self._place.hold_arriving(self._num_body_bytes)
            close = self.transport.close
            self._request_timeout = self.loop.call_later(seconds, close)

    def _set_read_timeout(self, num_unsent: int | None) -> None:
        if self._read_timeout is not None:
            self._read_timeout.cancel()
        self._read_timeout = None
        if num_unsent is not None:
            abort_if_stuck = self._abort_if_stuck
            self._read_timeout = self.loop.call_later(self.stuck_s, abort_if_stuck, num_unsent)

    def _abort_if_stuck(self, num_unsent: int) -> None:
        """A slow client gets more time. A stuck one would not read a close either."""
        num_left = self.transport.get_write_buffer_size()
        if num_left < num_unsent:
            self._set_read_timeout(num_left)
        else:
            _drop_unsent(self.transport)
            self.transport.abort()


class _DeferredClose(asyncio.Transport):
    """The transport that a response is written to, with another `close`."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        super().__init__()
        self._transport, self._close = transport, close

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._transport.write(data)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._close()


def _limit_unsent(transport: asyncio.BaseTransport) -> None:
    """The kernel would otherwise buffer megabytes for a client that does not read, and a slow
    client could not be told from a stuck one. Bytes in flight do not count."""
    _set_tcp_option(transport, "TCP_NOTSENT_LOWAT", MAX_UNSENT_BYTES)


def _limit_unacked_time(transport: asyncio.BaseTransport) -> None:
    """The kernel would otherwise retransmit to a vanished client for fifteen minutes."""
    _set_tcp_option(transport, "TCP_USER_TIMEOUT", TCP_USER_TIMEOUT_MS)


def _set_tcp_option(transport: asyncio.BaseTransport, option: str, value: int) -> None:
    """Does nothing on systems without this option."""
    connection = transport.get_extra_info("socket")
    if connection is not None and hasattr(socket, option):
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def _drop_unsent(transport: asyncio.BaseTransport) -> None:
    """The kernel would otherwise keep unsent bytes, and retransmit them, for minutes."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def connection_class(
    max_body_bytes: int, proxies: TrustedProxies, limits: ConnectionLimits
) -> type[Connection]:
    shared = {"max_body_bytes": max_body_bytes, "proxies": proxies, "limits": limits}
    return type("Connection", (Connection,), shared)
