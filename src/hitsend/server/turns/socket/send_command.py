"""The `send` command of a socket: starts a turn like the HTTP route, with the same limits."""

import msgspec
from starlette.requests import Request
from starlette.websockets import WebSocket

from hitsend import logs
from hitsend.server.app import App
from hitsend.server.auth.identify import Identity
from hitsend.server.call import Call, too_large
from hitsend.server.edge.request_id import REQUEST_ID
from hitsend.server.limits.send_limits import DEVICE, PROOF_TOKEN
from hitsend.server.turns.start import CONDUIT, parse_body, start_once
from hitsend.wire import socket as wire
from hitsend.wire.body import decode_body
from hitsend.wire.send import SendBody


async def run_send(
    websocket: WebSocket, app: App, identity: Identity, command: wire.SendCommand
) -> wire.SendReply:
    settings = app.services.settings
    if len(command.body) > settings.max_body_bytes:
        raise too_large(settings.max_body_bytes)
    body = decode_body(bytes(command.body), SendBody)
    send = await parse_body(app, body, identity.user.id)
    send = msgspec.structs.replace(send, key=f"socket:{command.client_msg_id}")
    call = Call(_as_request(websocket, command), app, identity)
    logs.REQUEST_ID.set(call.request_id)
    turn, is_replay, _ = await start_once(call, send)
    return wire.SendReply(turn.conversation_id, turn.turn_id, turn.topic_id, is_replay)


def _as_request(websocket: WebSocket, command: wire.SendCommand) -> Request:
    """Builds the request that the limits read: the socket's own, with the command's tokens as
    headers."""
    fields = {
        PROOF_TOKEN: command.sentinel_token,
        DEVICE: command.device_id,
        CONDUIT: command.conduit_token,
    }
    headers = [
        (name.encode(), value.encode("latin-1", "replace"))
        for name, value in fields.items()
        if value is not None
    ]
    scope = {**websocket.scope, "type": "http", "method": "POST"}
    scope.pop(REQUEST_ID, None)  # each Send has an id of its own
    scope["headers"] = [*headers, *websocket.scope["headers"]]
    return Request(scope)
