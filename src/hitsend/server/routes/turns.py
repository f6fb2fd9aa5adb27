"""A turn: send a message, stop the answer, inspect what happened."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.turns.resume import sign_resume_token
from hitsend.server.turns.start import CONDUIT, parse_body, read_idempotency_key, start_once
from hitsend.server.turns.stream import Heartbeat, View, stream_turn
from hitsend.wire.full_messages import FullMessageView
from hitsend.wire.responses import TurnLog
from hitsend.wire.send import SendBody
from hitsend.wire.v1 import V1View


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    conversation_id: Annotated[str, msgspec.Meta(min_length=1)]
    turn_exchange_id: str | None = None


@endpoint("POST", "/backend-api/f/conversation", Access.CHAT, is_counted=False)
async def send_message(call: Call) -> Response:
    """Send a message and stream the answer. A repeated Send gets the same answer."""
    app, settings = call.app, call.app.services.settings
    key = read_idempotency_key(call)
    body = await call.read_body(SendBody)
    send = await parse_body(app, body, call.user_id, key)
    turn, _, headers = await start_once(call, send)
    _, batches = await app.runner.follow(turn.turn_id, call.user_id, 0, settings.heartbeat_s)
    token = sign_resume_token(app, call.user_id, turn)
    is_v1 = "v1" in body.supported_encodings
    view: View = V1View(settings.pad, token) if is_v1 else FullMessageView()
    ids = {"x-turn-exchange-id": turn.turn_id, CONDUIT: token.token}
    heartbeat = Heartbeat.of(settings, app.runner)
    return stream_turn(view, batches, {**ids, **headers}, heartbeat)


@endpoint("POST", "/backend-api/stop_conversation", Access.CHAT)
async def stop_turn(call: Call) -> Response:
    """Stop an answer. The text so far is kept."""
    body = await call.read_body(Stop)
    await call.app.runner.stop(call.user_id, body.conversation_id, body.turn_exchange_id)
    return json_response({"success": True})


@endpoint("GET", "/backend-api/turn/{turn_id}", Access.READ)
async def get_turn(call: Call) -> Response:
    """Get every event of a turn."""
    turn_id = call.path_param("turn_id")
    events = await call.app.services.store.turns.events(turn_id, call.user_id)
    return json_response(TurnLog(turn_id, events))
