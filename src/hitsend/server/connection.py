"""One connection: uvicorn's, with bounds on how much and how long a client may take to ask, and
to read what it asked for.

Without them anyone could hold memory and connections by never coming to the end of a request, or
of an answer.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from hitsend.server.proxies import Proxies

MOST_HEADER_BYTES = 65_536
MOST_UNSENT_BYTES = 65_536
LONGEST_UNHEARD_MS = 60_000

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class Connection(HttpToolsProtocol):
    headers_s: ClassVar[float] = 10.0
    body_s: ClassVar[float] = 120.0
    """For each step of a body: a large one may take longer than a small one."""
    body_step: ClassVar[int] = 1_048_576
    most_body_bytes: ClassVar[int] = 268_435_456
    """More than this nobody reads, unless its answer is there already. What is a little too large
    still hears so from its route."""
    rest_s: ClassVar[float] = 5.0
    """For what is left of a body once its answer is sent: time to read the answer."""

    stuck_s: ClassVar[float] = 60.0
    """For a client to read anything at all of what waits for it."""

    idle_s: ClassVar[int] = 5
    """Between an answer and the next request."""
    proxy_idle_s: ClassVar[int] = 150
    """Longer than a proxy keeps a connection (nginx 60 s, Caddy 120 s). One that we close just as
    it sends something tells the caller 502."""
    proxies: ClassVar[Proxies] = Proxies(())

    _in_headers = True
    _is_parting = False
    _num_body_bytes = 0
    _num_header_bytes = 0
    _deadline: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        _keep_unsent_small(transport)
        _notice_loss(transport)
        is_proxy = self.client is not None and self.proxies.trust(self.client[0])
        self.timeout_keep_alive = self.proxy_idle_s if is_proxy else self.idle_s
        self._expect_within(self.headers_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_within(None)
        self._expect_reading(None)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reading(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._expect_reading(None)

    def data_received(self, data: bytes) -> None:
        if self._in_headers:
            data = self._take_headers(data)
        if data and not self.transport.is_closing():
            super().data_received(data)

    def on_headers_complete(self) -> None:
        self._in_headers, self._num_body_bytes = False, 0
        self._expect_within(self.body_s)
        super().on_headers_complete()
        if self.cycle is not None and not self.cycle.keep_alive:
            self.cycle.transport = _Parting(self.transport, self._part)

    def on_body(self, body: bytes) -> None:
        steps_before = self._num_body_bytes // self.body_step
        self._num_body_bytes += len(body)
        if self._is_answered:
            return  # nothing is kept, and its time is running
        if self._num_body_bytes > self.most_body_bytes + self.body_step:
            self._give_up()
        elif self._num_body_bytes // self.body_step > steps_before:
            self._expect_within(self.body_s)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_headers, self._num_header_bytes = True, 0
        # After an early answer nobody else waits for the next request.
        self._expect_within(self.headers_s if self._is_answered else None)
        super().on_message_complete()
        if self._is_parting:
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_headers and self._is_answered:
            self._expect_within(self.rest_s)

    def handle_websocket_upgrade(self) -> None:
        self._expect_within(None)  # from here on the socket's own rules hold
        self._expect_reading(None)
        super().handle_websocket_upgrade()

    def _part(self) -> None:
        """Not while they still send what the answer did not wait for: to close then is to reset,
        and whoever sends would not read the answer. nginx says 502 in its place."""
        if self._in_headers or not self._is_answered:
            self.transport.close()
        else:
            self._is_parting = True

    @property
    def _is_answered(self) -> bool:
        """The request whose body is arriving. An answer may also be to one before it."""
        return self.cycle is not None and self.cycle.response_complete

    def _take_headers(self, data: bytes) -> bytes:
        """What is left of `data`, which may be the beginning of the body."""
        if self._deadline is None:  # the first bytes of a further request
            self._expect_within(self.headers_s)
        room = MOST_HEADER_BYTES - self._num_header_bytes
        self._num_header_bytes += len(data[:room])
        super().data_received(data[:room])
        if self._in_headers and self._num_header_bytes == MOST_HEADER_BYTES:
            self.transport.write(TOO_LARGE)
            self.transport.close()
        return data[room:]

    def _expect_within(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self.transport.close()

    def _expect_reading(self, num_waiting: int | None) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
        self._stuck = None
        if num_waiting is not None:
            self._stuck = self.loop.call_later(self.stuck_s, self._look_again, num_waiting)

    def _look_again(self, num_waiting: int) -> None:
        """Slow is not stuck. Who is stuck would not read a farewell either."""
        left = self.transport.get_write_buffer_size()
        if left < num_waiting:
            self._expect_reading(left)
        else:
            _forget_unsent(self.transport)
            self.transport.abort()


class _Parting(asyncio.Transport):
    """What an answer is written to, with another way to close it."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        super().__init__()
        self._transport, self._close = transport, close

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._transport.write(data)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._close()


def _keep_unsent_small(transport: asyncio.BaseTransport) -> None:
    """The system would take megabytes for a client that does not read, and nobody could tell one
    that reads slowly. What is on its way to a client that does read is not counted."""
    _set(transport, "TCP_NOTSENT_LOWAT", MOST_UNSENT_BYTES)


def _notice_loss(transport: asyncio.BaseTransport) -> None:
    """The system would go on for a quarter of an hour to tell a peer that is silently gone."""
    _set(transport, "TCP_USER_TIMEOUT", LONGEST_UNHEARD_MS)


def _set(transport: asyncio.BaseTransport, option: str, value: int) -> None:
    """Where the system has it."""
    connection = transport.get_extra_info("socket")
    if connection is not None and hasattr(socket, option):
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def _forget_unsent(transport: asyncio.BaseTransport) -> None:
    """The system would otherwise keep it, and try to deliver it, for minutes."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def connection_for(most_body_bytes: int, proxies: Proxies) -> type[Connection]:
    ours = {"most_body_bytes": most_body_bytes, "proxies": proxies}
    return type("Connection", (Connection,), ours)
