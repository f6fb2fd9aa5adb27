"""A Send that came over a socket: the same as over HTTP, and once however often it comes."""

import asyncio
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.websockets import WebSocket

from hitsend.server.admission import DEVICE, TOKEN, admit_call, blaming
from hitsend.server.calls import Call, House, too_large
from hitsend.server.people import Person
from hitsend.server.sending import CONDUIT, brought, send_once
from hitsend.wire import socket as wire
from hitsend.wire.body import decode
from hitsend.wire.send import SendBody, parse_send


async def started(
    line: WebSocket, house: House, person: Person, command: wire.Send
) -> wire.Started:
    settings = house.services.settings
    if len(command.body) > settings.max_body_bytes:
        raise too_large(settings.max_body_bytes)
    body = decode(bytes(command.body), SendBody)
    most = settings.max_message_chars
    asked = await asyncio.to_thread(parse_send, body, person.user.id, most)
    keyed = msgspec.structs.replace(asked, key=f"socket:{command.client_msg_id}")
    call = Call(_as_request(line, command), house, person)
    with blaming(house, person):
        sent = await send_once(house, brought(call, keyed), partial(admit_call, call))
    turn = sent.turn
    return wire.Started(turn.conversation_id, turn.turn_id, turn.topic_id, sent.is_replay)


def _as_request(line: WebSocket, command: wire.Send) -> Request:
    """What the gate and the limits look at: where it comes from, and what it brings along."""
    headers = {
        TOKEN: command.sentinel_token,
        DEVICE: command.device_id,
        CONDUIT: command.conduit_token,
    }
    given = [
        (name.encode(), value.encode("latin-1", "replace"))
        for name, value in headers.items()
        if value is not None
    ]
    scope = {**line.scope, "type": "http", "method": "POST"}
    scope["headers"] = [*given, *line.scope["headers"]]
    return Request(scope)
