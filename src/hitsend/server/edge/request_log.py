"""One line in the log for each request, once its response has been sent.

It names the route, not the address: that may contain a token or what a person searched for. A
client that hangs up is no error.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected

from hitsend.logs import REQUEST_ID
from hitsend.server.edge.request_id import request_id_of

log = logging.getLogger(__name__)

HUNG_UP = (
    ClientDisconnect, WebSocketDisconnect, ClientDisconnected, ConnectionResetError, BrokenPipeError
)  # fmt: skip
"""uvicorn raises its own during the handshake of a WebSocket."""
CLIENT_CLOSED = 499
"""The status in the log where the client left before there was one; nginx has it too."""
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Programs call these every few seconds."""


CountRequest: TypeAlias = Callable[[str, str, int, float], None]
"""Counts a method, a route's pattern, a status and the seconds it took."""


class LoggedRoute:
    """A route as an ASGI app."""

    def __init__(
        self, path: str, handle: Callable[[Request], Awaitable[Response]], count: CountRequest
    ) -> None:
        self._path = path
        self._handle = handle
        self._count = count
        self._level = logging.DEBUG if path in PROBES else logging.INFO

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        REQUEST_ID.set(request_id_of(scope))
        status = CLIENT_CLOSED
        try:
            response = await self._handle(Request(scope, receive, send))
            status = response.status_code
            await response(scope, receive, send)
        except HUNG_UP:
            log.debug("the client hung up")
        finally:
            seconds = time.perf_counter() - began
            self._count(scope["method"], self._path, status, seconds)
            log_request(self._level, scope["method"], self._path, status, seconds)


def log_request(level: int, method: str, path: str, status: int, seconds: float) -> None:
    if log.isEnabledFor(level):
        ms = round(seconds * 1000, 1)
        facts = {"method": method, "route": path, "status": status, "ms": ms}
        log.log(level, "%s %s %d %.1f ms", method, path, status, ms, extra={"facts": facts})
