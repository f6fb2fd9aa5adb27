"""A conversation under way: send, stop, and look inside a turn."""

import asyncio
from functools import partial
from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.server.admission import admit_call, blaming
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.resuming import resume_token
from hitsend.server.sending import CONDUIT, brought, given_key, send_once
from hitsend.server.streams import View, stream
from hitsend.wire.plain import PlainView
from hitsend.wire.send import SendBody, parse_send
from hitsend.wire.v1 import V1View


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    conversation_id: Annotated[str, msgspec.Meta(min_length=1)]
    turn_exchange_id: str | None = None


@endpoint("POST", "/backend-api/f/conversation", Access.PERSON)
async def send(call: Call) -> Response:
    """Send a message; the answer comes as a stream. Sent again, it is the same answer."""
    key = given_key(call)
    body = await call.body(SendBody)
    house, settings = call.house, call.house.services.settings
    most = settings.max_message_chars
    asked = await asyncio.to_thread(parse_send, body, call.user_id, most, key)
    with blaming(call.house, call.person):
        sent = await send_once(house, brought(call, asked), partial(admit_call, call))
    _, coming = await house.runner.follow(sent.turn_id, call.user_id, 0, settings.heartbeat_s)
    token = resume_token(house, call.user_id, sent.turn)
    is_v1 = "v1" in body.supported_encodings
    view: View = V1View(settings.pad, token) if is_v1 else PlainView()
    named = {"x-turn-exchange-id": sent.turn_id, CONDUIT: token.token}
    return stream(view, coming, {**named, **sent.headers})


@endpoint("POST", "/backend-api/stop_conversation", Access.PERSON)
async def stop(call: Call) -> Response:
    """End an answer early. What was said is kept."""
    body = await call.body(Stop)
    await call.house.runner.stop(call.user_id, body.conversation_id, body.turn_exchange_id)
    return answer({"success": True})


@endpoint("GET", "/backend-api/turn/{turn_id}", Access.PERSON)
async def look_inside(call: Call) -> Response:
    """Everything that happened in a turn, as it was recorded."""
    turn_id = call.path("turn_id")
    events = await call.house.services.store.turns.events(turn_id, call.user_id)
    return answer({"turn_exchange_id": turn_id, "events": events})
