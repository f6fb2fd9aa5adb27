"""Who is calling: a session cookie or an API key, turned into a person.

A cookie is sent by the browser whoever asked it to, so a call that changes something must
also carry a token only our own page can read.
"""

import logging
import time
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from hitsend.credentials import hash_token, is_csrf_token, new_token
from hitsend.errors import NotAllowed, StoreDown
from hitsend.store import Session, Store, User

log = logging.getLogger(__name__)

COOKIE = "hitsend_session"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
ROTATE_AFTER_S = 86_400
"""A session's token is replaced once a day, so a stolen one does not live long."""

SEEN_AFTER_S = 60

USUAL_PORTS = {"http": ":80", "https": ":443"}
MOST_SHOWN = 200
"""Of what a caller wrote, in a sentence about it."""


@dataclass(frozen=True, slots=True)
class Person:
    user: User
    session: Session | None
    """None for a caller with an API key."""
    credential_id: str
    """Of the session or the key, whichever they came in with."""

    @property
    def key_id(self) -> str | None:
        """Of the API key, if they came in with one."""
        return self.credential_id if self.session is None else None


async def identify(request: Request, store: Store, secret: bytes) -> Person | None:
    """The caller, or None. A key that is given counts, whatever cookie came along."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme:
        is_bearer = scheme.lower() == "bearer"
        found = await store.accounts.by_key(hash_token(key.strip())) if is_bearer else None
        return Person(found[1], None, found[0].id) if found else None
    if not (token := request.cookies.get(COOKIE)):
        return None
    if (signed_in := await store.accounts.by_session(hash_token(token))) is None:
        return None
    session, user = signed_in
    if request.method not in SAFE:
        _check_csrf(request, session, secret)
    return Person(user, session, session.id)


def check_origin(request: HTTPConnection) -> None:
    """A page of another origin may not call us, whatever it carries."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    if origin and not is_own_origin(origin, host):
        raise NotAllowed(
            f"This call comes from another site: from {origin[:MOST_SHOWN]}, for "
            f"{host[:MOST_SHOWN]}. A proxy in between has to pass `Host` on as it is."
        )


def is_own_origin(origin: str, host: str) -> bool:
    """Whether a page of this origin asks the host it came from. Some proxies add the port that
    goes without saying."""
    scheme, _, asking = origin.partition("://")
    port = USUAL_PORTS.get(scheme, "")
    return asking.removesuffix(port).lower() == host.removesuffix(port).lower() != ""


async def refresh(session: Session, request: Request, store: Store) -> str | None:
    """Remember that the session is used, and make a fresh token for the browser once a day.
    Neither is a reason to turn anyone away."""
    try:
        return await _refresh(session, request, store)
    except StoreDown as error:
        log.warning("A session could not be refreshed: %s", error.message)
        return None


async def _refresh(session: Session, request: Request, store: Store) -> str | None:
    now = time.time()
    if now - session.last_seen_at > SEEN_AFTER_S:
        await store.accounts.touch_session(session.id)
    if now - session.rotated_at < ROTATE_AFTER_S:
        return None
    token, old = new_token(), hash_token(request.cookies[COOKIE])
    is_ours = await store.accounts.rotate_session(session.id, old, hash_token(token))
    return token if is_ours else None


def set_cookie(request: Request, response: Response, token: str, expires_at: float) -> None:
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(expires_at - time.time()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _check_csrf(request: Request, session: Session, secret: bytes) -> None:
    if not is_csrf_token(request.headers.get("x-csrf-token", ""), secret, session.id):
        raise NotAllowed("The page's token is missing or old. Reload the page.", param="csrf")
