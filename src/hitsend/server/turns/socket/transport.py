"""The WebSocket protocol: uvicorn's, with bounds on what is received, sent and kept."""

from collections.abc import Callable
from typing import Any, cast

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.server import ServerProtocol
from websockets.typing import BytesLike

from hitsend.mailbox import Mailbox
from hitsend.server.turns.socket.limits import SocketClose

MAX_IN_BYTES = 1_048_576
MAX_OUT_BYTES = 65_536
MAX_UNREAD_PONGS = 8192
"""About a megabyte. A client that pings more and reads nothing is disconnected."""
MAX_FRAGMENTS = 4096
"""Per message. An empty fragment is free on the wire, but takes memory here."""
LINGER_S = 5.0
"""For the last frames to leave. Then a client that does not read is disconnected."""


class _Framing(ServerProtocol):
    def send_text(self, data: BytesLike, fin: bool = True) -> None:
        """Splits long messages into frames of at most MAX_OUT_BYTES."""
        frames = [data[i : i + MAX_OUT_BYTES] for i in range(0, len(data), MAX_OUT_BYTES)] or [b""]
        last = len(frames) - 1
        super().send_text(frames[0], fin and last == 0)
        for i, frame in enumerate(frames[1:], 1):
            super().send_continuation(frame, fin and i == last)

    def fail(self, code: int, reason: str = "") -> None:
        super().fail(SocketClose.TOO_BIG if code == CloseCode.MESSAGE_TOO_BIG else code, reason)


class SocketProtocol(WebSocketsSansIOProtocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Framing(max_size=MAX_IN_BYTES, logger=self.logger)
        self.queue = cast(Any, Mailbox())
        self._num_unread_pongs = 0
        self.on_lost: Callable[[], None] = lambda: None
        """Called when the connection is gone."""

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.on_lost()

    def start_keepalive(self) -> None:
        """Frees the handshake, which uvicorn would keep in memory as long as the socket is open."""
        super().start_keepalive()
        del self.request, self.response

    def handle_ping(self) -> None:
        self._num_unread_pongs = 0 if self.writable.is_set() else self._num_unread_pongs + 1
        if self._num_unread_pongs > MAX_UNREAD_PONGS:
            self.transport.abort()
        if not self.transport.is_closing():
            super().handle_ping()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < MAX_FRAGMENTS:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.fail(SocketClose.TOO_BIG, "Too many pieces.")
            self.handle_parser_exception()

    async def send(self, message: ASGISendEvent) -> None:
        await self.writable.wait()
        # It is sent by the protocol after an invalid frame.
        is_over = self.close_sent or self.transport.is_closing()
        if not is_over:
            await super().send(message)
        if is_over or message["type"] == "websocket.http.response.body":
            # uvicorn logs a handshake that was refused or cut off as an error, but for this.
            self.handshake_complete = True
        if is_over:
            raise ClientDisconnected

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(LINGER_S, self.transport.abort)
