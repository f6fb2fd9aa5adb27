"""The WebSocket: its ticket, and the connection."""

from starlette.responses import Response
from starlette.websockets import WebSocket

from hitsend.errors import Refused
from hitsend.server.app import App
from hitsend.server.auth.identify import Identity, check_origin
from hitsend.server.call import Access, Call, endpoint, json_response, socket_endpoint
from hitsend.server.turns.socket.limits import SocketClose
from hitsend.server.turns.socket.socket import Socket, close_socket
from hitsend.wire.responses import SocketTicket
from hitsend.wire.socket import PROTOCOL

CONNECT = "/backend-api/celsius/ws/connect"


@endpoint("GET", "/backend-api/celsius/ws/user", Access.CHAT_AND_READ)
async def issue_ticket(call: Call) -> Response:
    """Get the URL of a WebSocket, with a ticket that is valid once and for a minute."""
    ticket = call.app.sockets.tickets.issue(call.identity)
    url = call.request.url
    scheme = "wss" if url.scheme == "https" else "ws"
    socket_url = f"{scheme}://{url.netloc}{CONNECT}?ticket={ticket.token}"
    body = SocketTicket(socket_url, ticket.expires_at)
    return json_response(body)


@socket_endpoint(CONNECT, Access.TICKET)
async def connect(websocket: WebSocket, app: App) -> None:
    """Follow any number of turns over one WebSocket, with news of all others."""
    check_origin(websocket)
    if PROTOCOL not in websocket.scope["subprotocols"]:
        raise Refused(f"This socket speaks {PROTOCOL}: ask for it as the subprotocol.")
    app.sockets.check_room()
    identity = await _redeem_ticket(websocket.query_params.get("ticket", ""), app)
    await websocket.accept(PROTOCOL)
    if identity is not None:
        socket = Socket(websocket, app, identity)
        if await app.streams.run_until_revoked(identity.credential_id, socket.run()):
            return
    # After the handshake: a browser does not show why a handshake failed.
    await close_socket(websocket, SocketClose(SocketClose.BAD_TICKET, "Ask for a new ticket."))


async def _redeem_ticket(ticket: str, app: App) -> Identity | None:
    """Returns None if its session or key was revoked since."""
    if (identity := app.sockets.tickets.redeem(ticket)) is None:
        return None
    accounts, credential_ids = app.services.store.accounts, {identity.credential_id}
    if identity.session is not None:
        live = await accounts.filter_sessions(credential_ids)
    else:
        live = await accounts.filter_keys(credential_ids)
    return identity if live else None
