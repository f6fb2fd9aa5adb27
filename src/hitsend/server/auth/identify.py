"""Authentication: turns a session cookie or an API key into an `Identity`.

Browsers send cookies with requests that other sites make, too. So a request that changes something
also needs a CSRF token, which only our own page can read.
"""

import hmac
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request

from hitsend.credentials import hash_token, is_valid_csrf_token
from hitsend.errors import NotAllowed
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.settings import Settings
from hitsend.store import KeyScope, Session, Store, User

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
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
    scopes: frozenset[KeyScope] = frozenset()
    """The scopes of an API key. A session may do everything its user may."""

    @property
    def key_id(self) -> str | None:
        """The id of the API key, or None for a session."""
        return self.credential_id if self.session is None else None


async def identify(request: Request, store: Store, csrf_secret: bytes) -> Identity | None:
    """Returns the caller, or None without valid credentials. An `Authorization` header takes
    precedence over a cookie. Raises NotAllowed where the CSRF token is missing, and KeyInvalid for
    an API key that has expired."""
    scheme, _, given_key = request.headers.get("authorization", "").partition(" ")
    if scheme:
        is_bearer = scheme.lower() == "bearer"
        found = (
            await store.accounts.find_by_key(hash_token(given_key.strip())) if is_bearer else None
        )
        if found is None:
            return None
        key, user = found
        return Identity(user, None, key.id, frozenset(key.scopes))
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


def has_metrics_token(request: Request, settings: Settings) -> bool:
    """Whether the caller has the token that only opens `/metrics`."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    token = settings.metrics_token
    return (
        token is not None
        and scheme.lower() == "bearer"
        and hmac.compare_digest(given.strip().encode(), token.encode())
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
