"""Tickets for the WebSocket: a browser can send no header with one, so its URL holds a ticket.

A ticket is valid once and for a minute, and stands for the credential it was requested with.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from hitsend.credentials import new_token
from hitsend.server.auth.identify import Identity

TICKET_S = 60
MAX_PER_USER = 8
"""A further ticket voids the user's oldest."""


class Ticket(NamedTuple):
    token: str
    identity: Identity
    expires_at: float


class Tickets:
    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._open: dict[str, Ticket] = {}
        """The oldest first, which is the first to expire."""

    def issue(self, identity: Identity) -> Ticket:
        self._remove_expired()
        user_id = identity.user.id
        tokens = [one.token for one in self._open.values() if one.identity.user.id == user_id]
        if len(tokens) >= MAX_PER_USER:
            del self._open[tokens[0]]
        ticket = Ticket(new_token(), identity, self._now() + TICKET_S)
        self._open[ticket.token] = ticket
        return ticket

    def redeem(self, token: str) -> Identity | None:
        """Returns who requested the ticket, and voids it."""
        ticket = self._open.pop(token, None)
        return ticket.identity if ticket and ticket.expires_at > self._now() else None

    def _remove_expired(self) -> None:
        now = self._now()
        while self._open and next(iter(self._open.values())).expires_at <= now:
            del self._open[next(iter(self._open))]
