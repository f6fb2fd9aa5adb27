"""The session cookie: set it, and replace its token once a day."""

import logging
import time

from starlette.requests import Request
from starlette.responses import Response

from hitsend.credentials import hash_token, new_token
from hitsend.errors import StoreDown
from hitsend.store import Session, Store

log = logging.getLogger(__name__)

COOKIE = "hitsend_session"
ROTATE_AFTER_S = 86_400
"""A session's token is replaced once a day, so a stolen one does not live long."""

SEEN_AFTER_S = 60
"""How exact `last_seen_at` of a session is."""


async def refresh_session(session: Session, request: Request, store: Store) -> str | None:
    """Updates when the session was last seen, and once a day returns a new token for its cookie.
    A store that is down refuses nobody here."""
    now = time.time()
    try:
        if now - session.last_seen_at > SEEN_AFTER_S:
            await store.accounts.touch_session(session.id)
        if now - session.rotated_at < ROTATE_AFTER_S:
            return None
        token, old = new_token(), hash_token(request.cookies[COOKIE])
        is_rotated = await store.accounts.rotate_session(session.id, old, hash_token(token))
        return token if is_rotated else None
    except StoreDown as error:
        log.warning("A session could not be refreshed: %s", error.message)
        return None


def set_session_cookie(request: Request, response: Response, token: str, expires_at: float) -> None:
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(expires_at - time.time()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
