"""Resuming a stream: continue an answer after the connection was lost."""

import asyncio
from typing import Annotated, Literal, TypeAlias

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.limits.send_limits import record_refusals
from hitsend.server.turns.resume import (
    ResumedStream,
    TurnStatus,
    check_claims,
    find_newest_turn,
    find_turn,
    is_resumable,
    open_stream,
    verify_resume_token,
)
from hitsend.server.turns.start import CONDUIT
from hitsend.server.turns.stream import Heartbeat, stream_turn
from hitsend.store.turns import turn_not_found
from hitsend.wire import v1

MAX_EVENTS = 1_000_000_000
MAX_BYTES = 4096
NO_TOKEN = "no-token"

Status: TypeAlias = Literal["IS_STREAMING", "IS_COMPLETE", "NO_STREAM"]
Id: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class ResumeBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    conversation_id: Id
    offset: Annotated[int, msgspec.Meta(ge=0, le=MAX_EVENTS)] = 0
    turn_exchange_id: Id | None = None
    mode: Literal["compact"] | None = None


class StreamStatus(msgspec.Struct, frozen=True):
    status: Status
    turn_exchange_id: str | None = None
    first_seq: int | None = None
    last_seq: int | None = None
    topic_id: str | None = None


@endpoint("POST", "/backend-api/f/conversation/resume", Access.CHAT)
async def resume_turn(call: Call) -> Response:
    """Continue an answer from any event, or from a snapshot."""
    with record_refusals(call.app, call.identity):
        call.app.resume_limit.count(call.user_id)
        body = await call.read_body(ResumeBody, MAX_BYTES)
        turn = await _find_turn(call, body)
    stream = await open_stream(
        call.app, call.user_id, turn.turn_id, body.offset, is_compact=body.mode == "compact"
    )
    return await _stream_response(call, stream)


@endpoint("GET", "/backend-api/f/conversation/{turn_id}/events", Access.CHAT)
async def follow_turn(call: Call) -> Response:
    """Stream a turn from any event, with `afterword=true` also what follows its end.

    The event is `Last-Event-ID`, or `after` in the query."""
    with record_refusals(call.app, call.identity):
        call.app.resume_limit.count(call.user_id)
    turn_id, after = call.path_param("turn_id"), _last_event_id(call)
    has_afterword = call.request.query_params.get("afterword") == "true"
    stream = await open_stream(call.app, call.user_id, turn_id, after, has_afterword=has_afterword)
    return await _stream_response(call, stream)


@endpoint("GET", "/backend-api/conversation/{conversation_id}/stream_status", Access.CHAT)
async def get_stream_status(call: Call) -> Response:
    """Tell whether a conversation has a stream to resume, and the range of its events."""
    services, conversation_id = call.app.services, call.path_param("conversation_id")
    turn_id = await services.store.turns.find_newest(conversation_id, call.user_id)
    if turn_id is None:
        return json_response(StreamStatus("NO_STREAM"))
    turn = await find_turn(call.app, call.user_id, turn_id)
    if not is_resumable(turn, services.settings.resume_s):
        return json_response(StreamStatus("NO_STREAM"))
    status: Status = "IS_STREAMING" if turn.finished_at is None else "IS_COMPLETE"
    if running := call.app.runner.find(turn_id, call.user_id):
        last_seq = len(running.events)
    else:
        last_seq = await services.store.turns.last_seq(turn_id, call.user_id)
    return json_response(StreamStatus(status, turn_id, 1, last_seq, turn.topic_id))


async def _find_turn(call: Call, body: ResumeBody) -> TurnStatus:
    """Finds the turn by the body or the token. Raises the same NotFound for a turn that does not
    exist and for another user's."""
    token = call.request.headers.get(CONDUIT, NO_TOKEN)
    claims = None if token == NO_TOKEN else verify_resume_token(call.app, call.user_id, token)
    turn_id = body.turn_exchange_id or (claims.turn_id if claims else None)
    if turn_id is None:
        return await find_newest_turn(call.app, call.user_id, body.conversation_id)
    turn = await find_turn(call.app, call.user_id, turn_id)
    if claims:
        check_claims(claims, turn)
    if turn.conversation_id != body.conversation_id:
        raise turn_not_found()
    return turn


async def _stream_response(call: Call, stream: ResumedStream) -> Response:
    # In a thread: a snapshot may be megabytes.
    opening = await asyncio.to_thread(v1.encode_opening, stream.opening, stream.token)
    headers = {"x-turn-exchange-id": stream.turn.turn_id}
    has_ended = stream.turn.finished_at is not None
    return stream_turn(
        stream.view,
        stream.batches,
        headers,
        Heartbeat.of(call.app.services.settings, call.app.runner),
        opening,
        has_ended=has_ended,
    )


def _last_event_id(call: Call) -> int:
    last = call.request.headers.get("last-event-id")
    if last is None:
        return call.query_int("after", 0, maximum=MAX_EVENTS)
    if not last.isascii() or not last.isdigit() or len(last) > 9:
        raise Refused("`Last-Event-ID` has to be the number of an event.", param="Last-Event-ID")
    return int(last)
