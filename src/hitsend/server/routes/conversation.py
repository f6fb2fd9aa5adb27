"""A conversation under way: send, follow, stop, and look inside a turn."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.streams import View, stream
from hitsend.turn import run_turn
from hitsend.wire.plain import PlainView
from hitsend.wire.send import SendBody, parse_send
from hitsend.wire.v1 import V1View

MOST_EVENTS = 1_000_000_000


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    conversation_id: Annotated[str, msgspec.Meta(min_length=1)]
    turn_exchange_id: str | None = None


@endpoint("POST", "/backend-api/f/conversation", Access.PERSON)
async def send(call: Call) -> Response:
    """Send a message; the answer comes as a stream."""
    body = await call.body(SendBody)
    sent, settings = parse_send(body, call.user_id), call.house.services.settings
    turn = await call.house.runner.start(call.user_id, run_turn(sent, call.house.services))
    view: View = V1View(settings.pad) if "v1" in body.supported_encodings else PlainView()
    return stream(view, turn.follow(0, settings.heartbeat_s), {"x-turn-exchange-id": turn.turn_id})


@endpoint("GET", "/backend-api/f/conversation/{turn_id}/events", Access.PERSON)
async def follow(call: Call) -> Response:
    """Read a turn from any event on: `Last-Event-ID`, or `after` in the query."""
    settings, turn_id = call.house.services.settings, call.path("turn_id")
    past, coming = await call.house.runner.follow(
        turn_id, call.user_id, _after(call), settings.heartbeat_s
    )
    view = V1View(settings.pad)
    return stream(view, coming, {"x-turn-exchange-id": turn_id}, opening=view.resume(past))


def _after(call: Call) -> int:
    last = call.request.headers.get("last-event-id")
    if last is None:
        return call.number("after", 0, most=MOST_EVENTS)
    if not last.isascii() or not last.isdigit() or len(last) > 9:
        raise Refused("`Last-Event-ID` has to be the number of an event.", param="Last-Event-ID")
    return int(last)


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
