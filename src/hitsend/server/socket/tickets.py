"""Tickets for the WebSocket: a browser can send no header with one, so it brings this instead.

A ticket holds once and for a minute, and stands for the credential it was asked for with.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from hitsend.credentials import new_token
from hitsend.server.people import Person

TICKET_S = 60
MAX_EACH = 8
"""Of one person. With a further one the oldest is void."""


class Ticket(NamedTuple):
    token: str
    person: Person
    expires_at: float


class Tickets:
    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._open: dict[str, Ticket] = {}
        """The oldest first, which is the first to expire."""

    def issue(self, person: Person) -> Ticket:
        self._forget_expired()
        theirs = [one for one in self._open.values() if one.person.user.id == person.user.id]
        if len(theirs) >= MAX_EACH:
            del self._open[theirs[0].token]
        ticket = Ticket(new_token(), person, self._now() + TICKET_S)
        self._open[ticket.token] = ticket
        return ticket

    def redeem(self, token: str) -> Person | None:
        """Whose it was. It is void from now on."""
        ticket = self._open.pop(token, None)
        return ticket.person if ticket and ticket.expires_at > self._now() else None

    def _forget_expired(self) -> None:
        now = self._now()
        while self._open and next(iter(self._open.values())).expires_at <= now:
            del self._open[next(iter(self._open))]
