"""All open sockets, by user, and the tickets for new ones."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from hitsend.errors import Overloaded
from hitsend.server.turns.socket.limits import SocketClose, SocketLimits
from hitsend.server.turns.socket.tickets import Tickets

MAX_SOCKETS = 2000
"""For all users together."""
DRAIN_S = 1.0


class OpenSocket(Protocol):
    @property
    def connection_id(self) -> str: ...

    def request_close(self, close: SocketClose) -> None: ...

    async def drain(self) -> None:
        """Sends what is left to send, and closes."""


class OpenSockets:
    def __init__(self, limits: SocketLimits | None = None) -> None:
        self.limits = limits or SocketLimits()
        self.tickets = Tickets()
        self._open: defaultdict[str, dict[str, OpenSocket]] = defaultdict(dict)
        """By user and connection, the oldest first."""

    @property
    def num_open(self) -> int:
        return sum(map(len, self._open.values()))

    def check_room(self) -> None:
        if self.num_open >= MAX_SOCKETS:
            raise Overloaded("Too many windows are open. Try again in a moment.", retry_after_s=5)

    @contextmanager
    def register(self, user_id: str, socket: OpenSocket) -> Iterator[None]:
        """Counts the socket as open. If its user has too many, their oldest is closed."""
        sockets = self._open[user_id]
        sockets[socket.connection_id] = socket
        if len(sockets) > self.limits.max_sockets:
            self.supersede(user_id, next(iter(sockets)))
        try:
            yield
        finally:
            sockets = self._open[user_id]  # may be another dict by now
            sockets.pop(socket.connection_id, None)
            if not sockets:
                del self._open[user_id]

    def supersede(self, user_id: str, connection_id: str) -> None:
        """Closes one of the user's sockets, if it is still open, because a new one replaces it."""
        if old := self._open[user_id].pop(connection_id, None):
            reason = "Another connection has taken its place."
            old.request_close(SocketClose(SocketClose.SUPERSEDED, reason))

    async def close(self) -> None:
        """Closes all sockets when the server stops."""
        draining = [
            asyncio.create_task(socket.drain())
            for sockets in self._open.values()
            for socket in sockets.values()
        ]
        if draining:
            await asyncio.wait(draining, timeout=DRAIN_S)
        for task in draining:
            task.cancel()
