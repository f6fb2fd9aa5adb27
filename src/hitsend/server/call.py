"""A call: one request as its route sees it, with the caller and the app. A route is an `Endpoint`:
a function of a `Call`, declared with who may call it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from hitsend.errors import Refused, ScopeMissing, TooLarge
from hitsend.server.app import App
from hitsend.server.auth.actor import actor_of
from hitsend.server.auth.identify import Identity
from hitsend.server.edge.request_id import request_id_of
from hitsend.store import Actor, KeyScope
from hitsend.wire.body import decode_body

T = TypeVar("T")

MAX_ANONYMOUS_BYTES = 16_384
"""The largest body of a caller that is not authenticated."""
NO_CONTENT = 204


class Access(Enum):
    """Who may call a route, and with which credential."""

    ANYONE = "anyone"
    USER = "session or any API key"
    CHAT = "session, or API key with `chat`"
    READ = "session, or API key with `read`"
    CHAT_AND_READ = "session, or API key with `chat` and `read`"
    KEY = "API key with `chat`"
    ANY_KEY = "any API key"
    SESSION = "session"
    CONFIRMED = "session, password given lately"
    ADMIN = "administrator: session, or API key with `admin`"
    ADMIN_SESSION = "administrator: session"
    REVIEW = "reviewer or administrator: session"
    METRICS = "administrator: session, or API key with `admin`; or `HITSEND_METRICS_TOKEN`"
    TICKET = "ticket"
    """For a WebSocket, with which a browser can send no header."""


KEY_SCOPES: Mapping[Access, frozenset[KeyScope]] = {
    Access.USER: frozenset(),
    Access.CHAT: frozenset({"chat"}),
    Access.READ: frozenset({"read"}),
    Access.CHAT_AND_READ: frozenset({"chat", "read"}),
    Access.KEY: frozenset({"chat"}),
    Access.ANY_KEY: frozenset(),
    Access.ADMIN: frozenset({"admin"}),
    Access.METRICS: frozenset({"admin"}),
}
"""The scopes that an API key needs, all of them. No key may call what is not listed."""


@dataclass(frozen=True, slots=True)
class Call:
    request: Request
    app: App
    caller: Identity | None
    """None on routes open to anyone."""

    @property
    def identity(self) -> Identity:
        assert self.caller is not None
        return self.caller

    @property
    def user_id(self) -> str:
        return self.identity.user.id

    @property
    def actor(self) -> Actor:
        """The caller, as the audit log records them."""
        return actor_of(self.request, self.caller)

    @property
    def request_id(self) -> str:
        return request_id_of(self.request.scope)

    def path_param(self, name: str) -> str:
        return str(self.request.path_params[name])

    def query_int(self, name: str, default: int, *, maximum: int) -> int:
        """Returns a whole number from the query string."""
        raw = self.request.query_params.get(name, str(default))
        if not raw.isascii() or not raw.isdigit() or len(raw) > 18 or int(raw) > maximum:
            raise Refused(f"`{name}` has to be a whole number from 0 to {maximum}.", param=name)
        return int(raw)

    async def read_body(self, kind: type[T], max_bytes: int | None = None) -> T:
        """Reads the JSON body as a `kind`. Raises Refused and TooLarge."""
        return decode_body(await self.read_json(max_bytes), kind)

    async def read_json(self, max_bytes: int | None = None) -> bytes:
        """Reads a body that is said to be JSON. Raises Refused and TooLarge."""
        if not self.request.headers.get("content-type", "").startswith("application/json"):
            raise Refused("The body has to be JSON, with Content-Type: application/json.")
        largest = self.app.services.settings.max_body_bytes
        max_bytes = min(max_bytes or largest, largest)
        if self.caller is None:
            max_bytes = min(max_bytes, MAX_ANONYMOUS_BYTES)
        check_content_length(self.request, max_bytes)
        received = bytearray()
        async for chunk in self.request.stream():
            received += chunk
            if len(received) > max_bytes:
                raise too_large(max_bytes)
        return bytes(received)


Handler: TypeAlias = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route: its method and path, who may call it, and its handler."""

    method: str
    path: str
    access: Access
    handler: Handler
    is_counted: bool = True
    """Whether it counts as one of its caller's open calls. Sends have limits of their own."""
    is_for_set_up: bool = False
    """Whether a session that still has to set up a second factor may call it."""
    is_probe: bool = False
    """Whether it is answered even where there is no room for the connection."""

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring, which docs/routes.md shows."""
        return _summary(self.handler)


def endpoint(
    method: str,
    path: str,
    access: Access,
    *,
    is_counted: bool = True,
    is_for_set_up: bool = False,
    is_probe: bool = False,
) -> Callable[[Handler], Endpoint]:
    return lambda handler: Endpoint(
        method, path, access, handler, is_counted, is_for_set_up, is_probe
    )


SocketHandler: TypeAlias = Callable[[WebSocket, App], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SocketEndpoint:
    """A WebSocket, declared like a route."""

    path: str
    access: Access
    handler: SocketHandler
    method: str = "WS"

    @property
    def summary(self) -> str:
        return _summary(self.handler)


def socket_endpoint(path: str, access: Access) -> Callable[[SocketHandler], SocketEndpoint]:
    return lambda handler: SocketEndpoint(path, access, handler)


def check_scopes(needed: frozenset[KeyScope], caller: Identity) -> None:
    """Raises ScopeMissing for an API key that lacks one of them."""
    if caller.session is None and (missing := sorted(needed - caller.scopes)):
        raise ScopeMissing(
            f"This API key lacks the scope {' and '.join(missing)}; it has "
            f"{' and '.join(sorted(caller.scopes))}. Make a key with it under Settings, API keys.",
            scopes=sorted(needed),
        )


def _summary(handler: object) -> str:
    return (handler.__doc__ or "").strip().splitlines()[0]


def json_response(
    value: object, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def check_content_length(request: Request, max_bytes: int) -> int | None:
    """Returns the declared length of the body, if there is one. Raises TooLarge before any of the
    body is read."""
    declared = request.headers.get("content-length", "")
    if not declared.isdigit():
        return None
    if int(declared) > max_bytes:
        raise too_large(max_bytes)
    return int(declared)


def too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The request is larger than {max_bytes:,} bytes.")
