"""MCP sessions, which clients of the revisions up to 2025-11-25 open with `initialize`.

A session is a signed id, and the server stores nothing of it: a session costs no memory, survives a
restart, and cannot be used up. It is there for one thing: these clients cancel a call by a second
request, and ids of requests are unique only in their session.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import time
from typing import TypeAlias
from uuid import uuid4

from hitsend.errors import NotFound, TokenExpired, TokenInvalid
from hitsend.server.auth.identify import Identity
from hitsend.server.auth.signed_tokens import Claims, sign, verify
from hitsend.wire.json_rpc import RequestId

SESSION_S = 30 * 86_400.0
"""The client then initializes again."""

Place: TypeAlias = tuple[str, RequestId]
"""A session, and the id of a request in it."""


class McpSession(Claims, frozen=True, kw_only=True):
    kind = "mcp session"

    key_id: str
    session_id: str


def open_session(secret: bytes, caller: Identity) -> str:
    return sign(
        secret,
        McpSession(
            user_id=caller.user.id,
            expires_at=time() + SESSION_S,
            key_id=caller.credential_id,
            session_id=str(uuid4()),
        ),
    )


def check_session(secret: bytes, caller: Identity, token: str) -> str:
    """Returns its id. Raises NotFound for a session that has ended, or of another key."""
    try:
        session = verify(secret, McpSession, token, caller.user.id)
    except (TokenInvalid, TokenExpired):
        raise _not_found() from None
    if session.key_id != caller.credential_id:
        raise _not_found()
    return session.session_id


class RunningRequests:
    """The requests that run in sessions, so that their clients can cancel them."""

    def __init__(self) -> None:
        self._cancels: dict[Place, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self._cancels)

    @contextmanager
    def hold(
        self, session_id: str, request_id: RequestId, cancel: Callable[[], None]
    ) -> Iterator[None]:
        """Makes the request one that its client can cancel while the context is open."""
        place = session_id, request_id
        self._cancels[place] = cancel
        try:
            yield
        finally:
            if self._cancels.get(place) == cancel:  # else the client used the id again
                del self._cancels[place]

    def cancel(self, session_id: str, request_id: RequestId) -> None:
        """Does nothing if the request has ended."""
        if cancel := self._cancels.get((session_id, request_id)):
            cancel()


def _not_found() -> NotFound:
    return NotFound("There is no such session, or it has ended. Initialize a new one.")
