"""Authentication: turns a session cookie or an API key into an `Identity`.

Browsers send cookies with requests that other sites make, too. So a request that changes something
also needs a CSRF token, which only our own page can read.
"""

import logging
import time
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from hitsend.credentials import hash_token, is_valid_csrf_token, new_token
from hitsend.errors import NotAllowed, StoreDown
from hitsend.store import Session, Store, User

log = logging.getLogger(__name__)

COOKIE = "hitsend_session"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
ROTATE_AFTER_S = 86_400
"""A session's token is replaced once a day, so a stolen one does not live long."""

SEEN_AFTER_S = 60
"""How exact `last_seen_at` of a session is."""

DEFAULT_PORTS = {"http": ":80", "https": ":443"}
MAX_QUOTED_CHARS = 200
"""How much of a caller's header an error message quotes."""


@dataclass(frozen=True, slots=True)
class Identity:
    """An authenticated caller."""

    user: User
    session: Session | None
    """None for an API key."""
    credential_id: str
    """The id of the session or of the API key."""

    @property
    def key_id(self) -> str | None:
        """The id of the API key, or None for a session."""
        return self.credential_id if self.session is None else None


async def identify(request: Request, store: Store, csrf_secret: bytes) -> Identity | None:
    """Returns the caller, or None without valid credentials. An `Authorization` header takes
    precedence over a cookie. Raises NotAllowed where the CSRF token is missing."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme:
        is_bearer = scheme.lower() == "bearer"
        found = await store.accounts.find_by_key(hash_token(key.strip())) if is_bearer else None
        return Identity(found[1], None, found[0].id) if found else None
    if not (token := request.cookies.get(COOKIE)):
        return None
    if (signed_in := await store.accounts.find_by_session(hash_token(token))) is None:
        return None
    session, user = signed_in
    if request.method not in SAFE_METHODS:
        csrf_token = request.headers.get("x-csrf-token", "")
        if not is_valid_csrf_token(csrf_token, csrf_secret, session.id):
            raise NotAllowed("The page's token is missing or old. Reload the page.", param="csrf")
    return Identity(user, session, session.id)


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


def check_origin(request: HTTPConnection) -> None:
    """Refuses calls from pages of another origin, on routes that need no CSRF token."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    if origin and not is_same_origin(origin, host):
        raise NotAllowed(
            f"This call comes from another site: from {origin[:MAX_QUOTED_CHARS]}, for "
            f"{host[:MAX_QUOTED_CHARS]}. A proxy in between has to pass `Host` on as it is."
        )


def is_same_origin(origin: str, host: str) -> bool:
    """Ignores the scheme's default port, which some proxies add to `Host`."""
    scheme, _, origin_host = origin.partition("://")
    port = DEFAULT_PORTS.get(scheme, "")
    return origin_host.removesuffix(port).lower() == host.removesuffix(port).lower() != ""
