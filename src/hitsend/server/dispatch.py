"""Step 1, dispatch: the path of every request, from the router to its route and back.

    check the host -> authorize -> refresh the session -> the route -> compress -> add headers

A bug in a route is answered with 500 and logged, and ends nothing else.
"""

import logging
import math
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketState

from hitsend.errors import (
    HitsendError,
    KeyInvalid,
    MethodNotAllowed,
    NotAllowed,
    NotFound,
    PasswordNeeded,
    ScopeMissing,
    SecondFactorNeeded,
    TooFast,
    Unauthenticated,
    Unavailable,
)
from hitsend.logs import REQUEST_ID
from hitsend.server.app import App
from hitsend.server.auth.identify import Identity, has_metrics_token, identify
from hitsend.server.auth.session_cookie import refresh_session, set_session_cookie
from hitsend.server.call import (
    KEY_SCOPES,
    Access,
    Call,
    Endpoint,
    SocketEndpoint,
    check_scopes,
    json_response,
)
from hitsend.server.edge.allowed_hosts import AllowedHosts
from hitsend.server.edge.compression import compress
from hitsend.server.edge.connection import REFUSAL
from hitsend.server.edge.cross_origin import ROOT, CrossOrigin
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.server.edge.request_id import request_id_of
from hitsend.server.edge.request_log import CLIENT_CLOSED, HUNG_UP, LoggedRoute
from hitsend.server.edge.security_headers import SecurityHeaders
from hitsend.server.limits.headers import rate_limit_headers
from hitsend.server.mcp.endpoint import MCP_PATH
from hitsend.server.metrics.metrics import Metrics
from hitsend.server.routes import ROUTES, SOCKETS
from hitsend.server.turns.socket.limits import SocketClose
from hitsend.server.turns.socket.socket import close_socket
from hitsend.server.turns.stream import RevocableStream
from hitsend.store import AccountRole, Session
from hitsend.wire.json_rpc import describe_failure
from hitsend.wire.problem import ErrorBody, describe_error

log = logging.getLogger(__name__)

BROKEN = "Something broke on our side. It has been logged."
CONFIRMED_S = 600
"""How long a password that was given allows changes to one's credentials."""
REVIEWERS: frozenset[AccountRole] = frozenset({"reviewer", "admin"})
FOR_ADMINISTRATORS = frozenset({Access.ADMIN, Access.ADMIN_SESSION, Access.METRICS})
RETRY_AFTER_S = 1.0
"""The default for errors without a time of their own."""


def build_asgi_app(app: App, routes: Sequence[Endpoint] = ROUTES) -> Starlette:
    settings = app.services.settings
    hosts, headers = AllowedHosts(settings), SecurityHeaders(settings)
    origins = CrossOrigin(settings)
    preflight = _preflight_route(hosts, headers, origins, app.metrics)
    refuse = partial(_refuse_unknown_route, app.metrics, headers, origins)
    asgi_app = Starlette(
        routes=[
            *(_http_route(endpoint, app, hosts, headers, origins) for endpoint in routes),
            *(_socket_route(endpoint, app, hosts, headers) for endpoint in SOCKETS),
            *([preflight] if settings.cors_origins else []),
        ],
        exception_handlers={HTTPException: refuse},
    )
    asgi_app.router.redirect_slashes = False  # such a redirect would bypass `handle`
    return asgi_app


def _http_route(
    endpoint: Endpoint,
    app: App,
    hosts: AllowedHosts,
    headers: SecurityHeaders,
    origins: CrossOrigin,
) -> Route:
    async def handle(request: Request) -> Response:
        try:
            hosts.check(request)
            if not endpoint.is_probe:
                _check_room(request)
            response = await _call_route(endpoint, request, app)
        except HitsendError as error:
            app.metrics.count_error(error.code)
            response = _error_response(error, request)
        except ClientDisconnect:
            response = Response(status_code=CLIENT_CLOSED)  # nobody reads it
        except Exception:
            # The outermost layer: whatever a bug did, the caller gets an answer and we get a trace.
            log.exception("%s %s failed", endpoint.method, endpoint.path)
            app.metrics.count_error(HitsendError.code)
            response = _error_response(HitsendError(BROKEN), request)
        origins.add_headers(request, response)
        return headers.add(await compress(response, request), request_id_of(request.scope))

    route = LoggedRoute(endpoint.path, handle, app.metrics.count_request)
    return Route(endpoint.path, route, methods=[endpoint.method], name=endpoint.summary)


def _preflight_route(
    hosts: AllowedHosts, headers: SecurityHeaders, origins: CrossOrigin, metrics: Metrics
) -> Route:
    """Answers a browser that asks whether a page of another origin may call `/v1`."""

    async def handle(request: Request) -> Response:
        try:
            hosts.check(request)
            _check_room(request)
            response = origins.answer_preflight(request)
        except HitsendError as error:
            response = _error_response(error, request)
        origins.add_headers(request, response)
        return headers.add(response, request_id_of(request.scope))

    path = ROOT + "{path:path}"
    return Route(path, LoggedRoute(path, handle, metrics.count_request), methods=["OPTIONS"])


async def _call_route(endpoint: Endpoint, request: Request, app: App) -> Response:
    caller = await _authorize(endpoint, request, app)
    call = Call(request, app, caller)
    session = caller.session if caller else None
    counting = app.open_calls.count(caller, client_address(request))
    async with counting if endpoint.is_counted else nullcontext():
        new_token = await refresh_session(session, request, app.services.store) if session else None
        response = await endpoint.handler(call)
    if session and new_token and "set-cookie" not in response.headers:
        set_session_cookie(request, response, new_token, session.expires_at)
    if caller and isinstance(response, RevocableStream):
        response.end_when_revoked(caller.credential_id, app.streams)
    return response


async def _authorize(endpoint: Endpoint, request: Request, app: App) -> Identity | None:
    access = endpoint.access
    if access is Access.ANYONE:
        return None
    if access is Access.METRICS and has_metrics_token(request, app.services.settings):
        return None
    caller = await identify(request, app.services.store, app.csrf_secret)
    if access in (Access.KEY, Access.ANY_KEY) and (caller is None or caller.session is not None):
        raise KeyInvalid("This needs a valid API key: Authorization: Bearer hs-…")
    if caller is None:
        raise Unauthenticated("Sign in, or send an API key: Authorization: Bearer hs-…")
    if caller.session is None:
        _check_scopes(access, caller)
    if access in FOR_ADMINISTRATORS and caller.user.role != "admin":
        raise NotAllowed("Only an administrator can do this.")
    if access is Access.REVIEW and caller.user.role not in REVIEWERS:
        raise NotAllowed("Only a reviewer or an administrator can do this.")
    if caller.session is not None:
        _check_session(caller.session, endpoint)
    return caller


def _check_scopes(access: Access, caller: Identity) -> None:
    """Refuses an API key on routes for no key, and one that lacks a scope."""
    if (needed := KEY_SCOPES.get(access)) is None:
        raise NotAllowed("An API key cannot do this. Sign in on the page.")
    check_scopes(needed, caller)


def _check_session(session: Session, endpoint: Endpoint) -> None:
    if session.needs_second_factor and not endpoint.is_for_set_up:
        raise SecondFactorNeeded("Set up two-step sign-in first: this server requires it.")
    is_confirmed = time.time() - (session.confirmed_at or 0.0) <= CONFIRMED_S
    if endpoint.access is Access.CONFIRMED and not is_confirmed:
        raise PasswordNeeded("Type your password again to do this.")


def _socket_route(
    endpoint: SocketEndpoint, app: App, hosts: AllowedHosts, headers: SecurityHeaders
) -> WebSocketRoute:
    async def handle(websocket: WebSocket) -> None:
        REQUEST_ID.set(request_id_of(websocket.scope))
        try:
            with suppress(*HUNG_UP):
                hosts.check(websocket)
                _check_room(websocket)
                await endpoint.handler(websocket, app)
        except HitsendError as error:  # only raised before the handshake
            await _deny_socket(websocket, error, headers)
        except Exception:
            # The outermost layer of a socket: the client learns why it closes.
            log.exception("%s %s failed", endpoint.method, endpoint.path)
            if websocket.application_state is WebSocketState.CONNECTING:
                await _deny_socket(websocket, HitsendError(BROKEN), headers)
            else:
                await close_socket(websocket, SocketClose(SocketClose.BROKEN, BROKEN))

    return WebSocketRoute(endpoint.path, handle, name=endpoint.summary)


def _check_room(request: HTTPConnection) -> None:
    """Refuses a request on a connection for which there is no room."""
    if refusal := request.scope.get("state", {}).get(REFUSAL):
        raise refusal


async def _deny_socket(websocket: WebSocket, error: HitsendError, headers: SecurityHeaders) -> None:
    response = headers.add(_error_response(error, websocket), request_id_of(websocket.scope))
    with suppress(*HUNG_UP):
        await websocket.send_denial_response(response)


async def _refuse_unknown_route(
    metrics: Metrics,
    headers: SecurityHeaders,
    origins: CrossOrigin,
    request: Request,
    error: Exception,
) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        refusal: HitsendError = MethodNotAllowed("This address cannot be called like that.")
    else:
        refusal = NotFound("There is nothing at this address.")
    metrics.count_unknown_route(request.method, error.status_code, refusal.code)
    log.info("%s of no route: %d", request.method, error.status_code)
    response = _error_response(refusal, request)
    origins.add_headers(request, response)
    return headers.add(response, request_id_of(request.scope))


def _error_response(error: HitsendError, request: HTTPConnection) -> Response:
    """One JSON body for all routes, in OpenAI's shape on /v1, and in JSON-RPC's on /mcp."""
    if request.url.path == MCP_PATH:
        failure = describe_failure(error)
        return json_response(failure, error.status, _error_headers(error, request))
    body = ErrorBody(describe_error(error))
    if not request.url.path.startswith("/v1/"):
        body = ErrorBody(body.error, error.message, request_id_of(request.scope))
    return json_response(body, error.status, _error_headers(error, request))


def _error_headers(error: HitsendError, request: HTTPConnection) -> dict[str, str]:
    if isinstance(error, Unavailable | TooFast):
        seconds = error.retry_after_s or RETRY_AFTER_S
        limits = rate_limit_headers(error.allowances) if isinstance(error, TooFast) else {}
        return limits | {
            "retry-after": str(math.ceil(seconds)),
            "retry-after-ms": str(math.ceil(seconds * 1000)),
        }
    if isinstance(error, Unauthenticated):
        is_wrong = "authorization" in request.headers
        return {"www-authenticate": 'Bearer error="invalid_token"' if is_wrong else "Bearer"}
    if isinstance(error, ScopeMissing):
        needed = " ".join(sorted(error.scopes))
        return {"www-authenticate": f'Bearer error="insufficient_scope", scope="{needed}"'}
    return {}
