"""One request, as a route sees it: who is calling, and what they sent.

A route is a function of a `Call`. It is declared with who may call it; there is no default.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from hitsend.errors import Refused, TooLarge
from hitsend.runner import Runner
from hitsend.server.gate import Gate
from hitsend.server.latency import Latency
from hitsend.server.meter import Meter
from hitsend.server.people import Person
from hitsend.server.readiness import Readiness
from hitsend.server.returning import Returns
from hitsend.server.socket.sockets import Sockets
from hitsend.server.streams import OpenStreams
from hitsend.server.suggesting import Suggesting
from hitsend.server.throttle import Throttle
from hitsend.server.turnstile import Turnstile
from hitsend.server.warming import Warming
from hitsend.turn import Services
from hitsend.wire.body import decode

T = TypeVar("T")

STRANGERS_BYTES = 16_384
"""The largest body of somebody who has not said who they are."""


class Access(Enum):
    """Who may call a route, and with which credential."""

    ANYONE = "anyone"
    PERSON = "session or API key"
    KEY = "API key"
    SESSION = "session"
    ADMIN = "session of an administrator"
    TICKET = "ticket"
    """Of a WebSocket, for which a browser can send no header."""


@dataclass(frozen=True, slots=True)
class House:
    """Everything a route may use. Built once, by app.py."""

    services: Services
    runner: Runner
    secret: bytes
    """Of every pass that is handed out."""
    csrf_secret: bytes
    throttle: Throttle
    founding: asyncio.Lock
    """Held while the first account is made, so that a crowd costs one password hash."""
    importing: asyncio.Lock
    """Held while a file of conversations is read and stored."""
    streams: OpenStreams
    store_readiness: Readiness
    gate: Gate
    warming: Warming
    suggesting: Suggesting
    latency: Latency = field(default_factory=Latency)
    """How fast pages were, and which errors they had."""
    meter: Meter = field(default_factory=Meter)
    """How many requests each of us made."""
    sending: Turnstile = field(default_factory=Turnstile)
    """What is sent twice at once is sent once: one at a time for each person and key."""
    returns: Returns = field(default_factory=Returns)
    sockets: Sockets = field(default_factory=Sockets)
    weighing: Turnstile = field(default_factory=Turnstile)
    """Someone who types asks again and again how much room is left."""
    importers: Turnstile = field(default_factory=Turnstile)
    exporters: Turnstile = field(default_factory=Turnstile)
    """Who brings in and takes out a file may fill the disk and keep the processor busy."""


@dataclass(frozen=True, slots=True)
class Call:
    request: Request
    house: House
    caller: Person | None

    @property
    def person(self) -> Person:
        """Who is calling. Only routes open to anyone can be called by nobody."""
        assert self.caller is not None
        return self.caller

    @property
    def user_id(self) -> str:
        return self.person.user.id

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def number(self, name: str, default: int, *, most: int) -> int:
        """A whole number from the query string."""
        raw = self.request.query_params.get(name, str(default))
        if not raw.isascii() or not raw.isdigit() or len(raw) > 18 or int(raw) > most:
            raise Refused(f"`{name}` has to be a whole number from 0 to {most}.", param=name)
        return int(raw)

    async def body(self, kind: type[T], most: int | None = None) -> T:
        """The JSON body as a `kind`. Anything else is refused before it is looked at closely."""
        if not self.request.headers.get("content-type", "").startswith("application/json"):
            raise Refused("The body has to be JSON, with Content-Type: application/json.")
        largest = self.house.services.settings.max_body_bytes
        return decode(await self._bytes(min(most or largest, largest)), kind)

    async def _bytes(self, most: int) -> bytes:
        if self.caller is None:
            most = min(most, STRANGERS_BYTES)
        check_declared(self.request, most)
        received = bytearray()
        async for chunk in self.request.stream():
            received += chunk
            if len(received) > most:
                raise too_large(most)
        return bytes(received)


Handler: TypeAlias = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route: how it is called, who may, and what answers."""

    method: str
    path: str
    access: Access
    handler: Handler

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring: what the documentation says of it."""
        return _summary(self.handler)


def endpoint(method: str, path: str, access: Access) -> Callable[[Handler], Endpoint]:
    return lambda handler: Endpoint(method, path, access, handler)


SocketHandler: TypeAlias = Callable[[WebSocket, House], Awaitable[None]]


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


def _summary(handler: object) -> str:
    return (handler.__doc__ or "").strip().splitlines()[0]


def answer(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response."""
    return Response(msgspec.json.encode(value), status, headers, "application/json")


NOTHING = 204


def check_declared(request: Request, most: int) -> int | None:
    """How long the body says it is, if it does. One that is too large is not read at all."""
    declared = request.headers.get("content-length", "")
    if not declared.isdigit():
        return None
    if int(declared) > most:
        raise too_large(most)
    return int(declared)


def too_large(most: int) -> TooLarge:
    return TooLarge(f"The request is larger than {most:,} bytes.")
