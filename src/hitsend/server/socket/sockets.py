"""All sockets that are open, by person, and the tickets for further ones."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from hitsend.errors import Overloaded
from hitsend.server.socket.rules import Hangup, Rules
from hitsend.server.socket.tickets import Tickets

MOST_SOCKETS = 2000
"""Of everyone."""
LEAVE_S = 1.0


class OpenSocket(Protocol):
    @property
    def connection_id(self) -> str: ...

    def hang_up(self, why: Hangup) -> None:
        """As soon as possible."""

    async def leave(self) -> None:
        """Say what is left to say, and hang up."""


class Sockets:
    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self.tickets = Tickets()
        self._open: defaultdict[str, dict[str, OpenSocket]] = defaultdict(dict)
        """The oldest first."""

    @property
    def num_open(self) -> int:
        return sum(map(len, self._open.values()))

    def check_room(self) -> None:
        if self.num_open >= MOST_SOCKETS:
            raise Overloaded("Too many windows are open. Try again in a moment.", retry_after_s=5)

    @contextmanager
    def joined(self, user_id: str, socket: OpenSocket) -> Iterator[None]:
        """Among the open ones. If a person has too many, their oldest makes room."""
        theirs = self._open[user_id]
        theirs[socket.connection_id] = socket
        if len(theirs) > self.rules.max_sockets:
            self.supersede(user_id, next(iter(theirs)))
        try:
            yield
        finally:
            left = self._open[user_id]  # which may be others by now
            left.pop(socket.connection_id, None)
            if not left:
                del self._open[user_id]

    def supersede(self, user_id: str, connection_id: str) -> None:
        """Close one of theirs, if it is still open: another has taken its place."""
        if old := self._open[user_id].pop(connection_id, None):
            old.hang_up(Hangup(Hangup.SUPERSEDED, "Another connection has taken its place."))

    async def close(self) -> None:
        """The server leaves: everyone hears it, after what they still had to hear."""
        leaving = [
            asyncio.create_task(socket.leave())
            for theirs in self._open.values()
            for socket in theirs.values()
        ]
        if leaving:
            await asyncio.wait(leaving, timeout=LEAVE_S)
        for task in leaving:
            task.cancel()
