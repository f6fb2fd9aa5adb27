"""The WebSocket as bytes: uvicorn's, with bounds on what comes, what goes and how long it stays."""

from typing import Any, cast

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.server import ServerProtocol
from websockets.typing import BytesLike

from hitsend.mailbox import Mailbox
from hitsend.server.socket.rules import Hangup

MAX_IN_BYTES = 1_048_576
MAX_OUT_BYTES = 65_536
MAX_UNREAD_PONGS = 8192
"""A megabyte. Whoever asks for more and reads nothing is cut off."""
MAX_PIECES = 4096
"""Of one message. An empty one weighs nothing on the wire, and something here."""
LINGER_S = 5.0
"""For what was said last to leave. After that whoever does not read is cut off."""


class _Framing(ServerProtocol):
    def send_text(self, data: BytesLike, fin: bool = True) -> None:
        """In frames of a bounded size, however long the message."""
        pieces = [data[i : i + MAX_OUT_BYTES] for i in range(0, len(data), MAX_OUT_BYTES)] or [b""]
        last = len(pieces) - 1
        super().send_text(pieces[0], fin and last == 0)
        for i, piece in enumerate(pieces[1:], 1):
            super().send_continuation(piece, fin and i == last)

    def fail(self, code: int, reason: str = "") -> None:
        super().fail(Hangup.TOO_BIG if code == CloseCode.MESSAGE_TOO_BIG else code, reason)


class Line(WebSocketsSansIOProtocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Framing(max_size=MAX_IN_BYTES, logger=self.logger)
        self.queue = cast(Any, Mailbox())
        self._num_unread_pongs = 0

    def start_keepalive(self) -> None:
        """The handshake is over: what was said in it need not stay for as long as the line."""
        super().start_keepalive()
        del self.request, self.response

    def handle_ping(self) -> None:
        self._num_unread_pongs = 0 if self.writable.is_set() else self._num_unread_pongs + 1
        if self._num_unread_pongs > MAX_UNREAD_PONGS:
            self.transport.abort()
        if not self.transport.is_closing():
            super().handle_ping()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < MAX_PIECES:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.fail(Hangup.TOO_BIG, "Too many pieces.")
            self.handle_parser_exception()

    async def send(self, message: ASGISendEvent) -> None:
        await self.writable.wait()
        if self.close_sent:  # by the protocol, over a mistake of theirs
            raise ClientDisconnected
        await super().send(message)

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(LINGER_S, self.transport.abort)
