"""The door every request comes through: who is it, may they, and what is sent back with it.

Here stands one of the broad handlers (the others are the runner's, and that of what runs in the
background): a bug answers 500, is logged, and ends nothing else.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias
from uuid import uuid4

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from uvicorn.protocols.utils import ClientDisconnected

from hitsend.errors import (
    HitsendError,
    MethodNotAllowed,
    NotAllowed,
    NotFound,
    Unauthenticated,
)
from hitsend.server.calls import Access, Call, Endpoint, House, SocketEndpoint
from hitsend.server.compression import compressed
from hitsend.server.failures import failure
from hitsend.server.people import MOST_SHOWN, Person, identify, refresh, set_cookie
from hitsend.server.socket.rules import Hangup
from hitsend.server.socket.socket import hang_up
from hitsend.server.streams import RevocableStream, TurnStream
from hitsend.settings import Settings, is_loopback, listed

log = logging.getLogger(__name__)

Entry: TypeAlias = Callable[[Request], Awaitable[Response]]
SocketEntry: TypeAlias = Callable[[WebSocket], Awaitable[None]]

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
HEADERS_OF_STREAMS = {"x-content-type-options": "nosniff"}
BROKEN = "Something broke on our side. It has been logged."
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def entry(endpoint: Endpoint, house: House) -> Entry:
    async def enter(request: Request) -> Response:
        try:
            _check_host(request, house.services.settings)
            response = await _served(endpoint, request, house)
        except HitsendError as error:
            response = failure(error, request.url.path)
        except ClientDisconnect:
            response = Response(status_code=499)  # nobody is there to read it
        except Exception:
            log.exception("%s %s failed", endpoint.method, endpoint.path)
            response = failure(HitsendError(BROKEN), request.url.path)
        return _dressed(await compressed(response, request))

    return enter


GONE = (WebSocketDisconnect, ClientDisconnected)
"""Nobody is there to hear more. The second is uvicorn's, of one who left during the handshake."""


def socket_entry(endpoint: SocketEndpoint, house: House) -> SocketEntry:
    async def enter(line: WebSocket) -> None:
        try:
            with suppress(*GONE):
                _check_host(line, house.services.settings)
                await endpoint.handler(line, house)
        except HitsendError as error:  # which can only be before the handshake
            await _deny(line, error)
        except Exception:
            log.exception("%s %s failed", endpoint.method, endpoint.path)
            await _break_off(line)

    return enter


async def _break_off(line: WebSocket) -> None:
    if line.application_state is WebSocketState.CONNECTING:
        await _deny(line, HitsendError(BROKEN))
    else:
        await hang_up(line, Hangup(Hangup.BROKEN, BROKEN))


async def _deny(line: WebSocket, error: HitsendError) -> None:
    await line.send_denial_response(_dressed(failure(error, line.url.path)))


async def lost(request: Request, error: Exception) -> Response:
    """No such path, or not with this method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        refusal: HitsendError = MethodNotAllowed("This address cannot be called like that.")
    else:
        refusal = NotFound("There is nothing at this address.")
    return _dressed(failure(refusal, request.url.path))


async def _served(endpoint: Endpoint, request: Request, house: House) -> Response:
    caller = await _admitted(endpoint.access, request, house)
    if caller is None:
        return await endpoint.handler(Call(request, house, None))
    session = caller.session
    token = await refresh(session, request, house.services.store) if session else None
    response = await endpoint.handler(Call(request, house, caller))
    if session and token and "set-cookie" not in response.headers:
        set_cookie(request, response, token, session.expires_at)
    if isinstance(response, RevocableStream):
        response.end_with(caller.credential_id, house.streams)
    return response


async def _admitted(access: Access, request: Request, house: House) -> Person | None:
    if access is Access.ANYONE:
        return None
    person = await identify(request, house.services.store, house.csrf_secret)
    if person is None:
        raise Unauthenticated("Sign in, or send an API key: Authorization: Bearer hs-…")
    if access is Access.KEY and person.session is not None:
        raise Unauthenticated("This needs an API key: Authorization: Bearer hs-…")
    if access in (Access.SESSION, Access.ADMIN) and person.session is None:
        raise NotAllowed("An API key cannot do this. Sign in on the page.")
    if access is Access.ADMIN and person.user.role != "admin":
        raise NotAllowed("Only an administrator can do this.")
    return person


def _check_host(request: HTTPConnection, settings: Settings) -> None:
    """A name that merely resolves to this machine is not ours: a page on such a name could
    otherwise talk to a server that listens only for its owner."""
    allowed = set(listed(settings.allowed_hosts.lower()))
    if not allowed and not is_loopback(settings.host):
        return
    name = request.url.hostname or ""
    if name not in allowed | LOCAL_NAMES:
        raise NotAllowed(
            f"hitsend was asked as {name[:MOST_SHOWN]}, which is not a name it answers to. "
            "See HITSEND_ALLOWED_HOSTS."
        )


def _dressed(response: Response) -> Response:
    response.headers["x-request-id"] = str(uuid4())
    # A stream is never shown as a document: what rules documents would be dead weight on it.
    is_stream = isinstance(response, TurnStream)
    response.headers.update(HEADERS_OF_STREAMS if is_stream else HEADERS)
    return response
