"""Coming back to an answer: read on from where the connection was lost."""

import asyncio
from typing import Annotated, Literal, TypeAlias

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.admission import blaming
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.resuming import (
    Resumed,
    Standing,
    check_claims,
    find_turn,
    is_streamed,
    newest_turn,
    opened,
    read_token,
)
from hitsend.server.sending import CONDUIT
from hitsend.server.streams import stream
from hitsend.store.turns import no_turn
from hitsend.wire import v1

MOST_EVENTS = 1_000_000_000
MOST_BYTES = 4096
NO_TOKEN = "no-token"

Status: TypeAlias = Literal["IS_STREAMING", "IS_COMPLETE", "NO_STREAM"]
Id: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class Resume(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    conversation_id: Id
    offset: Annotated[int, msgspec.Meta(ge=0, le=MOST_EVENTS)] = 0
    turn_exchange_id: Id | None = None
    mode: Literal["compact"] | None = None


class StreamStatus(msgspec.Struct, frozen=True):
    status: Status
    turn_exchange_id: str | None = None
    first_seq: int | None = None
    last_seq: int | None = None
    topic_id: str | None = None


@endpoint("POST", "/backend-api/f/conversation/resume", Access.PERSON)
async def resume(call: Call) -> Response:
    """Read an answer on from any event, or from a summary of what came before."""
    with blaming(call.house, call.person):
        await call.house.returns.count(call.user_id)
        body = await call.body(Resume, MOST_BYTES)
        turn = await _meant(call, body)
    is_compact = body.mode == "compact"
    resumed = await opened(call.house, call.user_id, turn.turn_id, body.offset, is_compact)
    return await _streamed(resumed)


@endpoint("GET", "/backend-api/f/conversation/{turn_id}/events", Access.PERSON)
async def follow(call: Call) -> Response:
    """Read a turn from any event on: `Last-Event-ID`, or `after` in the query."""
    with blaming(call.house, call.person):
        await call.house.returns.count(call.user_id)
    turn_id, after = call.path("turn_id"), _after(call)
    return await _streamed(await opened(call.house, call.user_id, turn_id, after))


@endpoint("GET", "/backend-api/conversation/{conversation_id}/stream_status", Access.PERSON)
async def stream_status(call: Call) -> Response:
    """Whether an answer is on its way in a conversation, and which events of it there are."""
    services, conversation_id = call.house.services, call.path("conversation_id")
    turn_id = await services.store.turns.newest(conversation_id, call.user_id)
    if turn_id is None:
        return answer(StreamStatus("NO_STREAM"))
    turn = await find_turn(call.house, call.user_id, turn_id)
    if not is_streamed(turn, services.settings.resume_s):
        return answer(StreamStatus("NO_STREAM"))
    status: Status = "IS_STREAMING" if turn.finished_at is None else "IS_COMPLETE"
    last_seq = await _last_seq(call, turn_id)
    return answer(StreamStatus(status, turn_id, 1, last_seq, turn.topic_id))


async def _meant(call: Call, body: Resume) -> Standing:
    """Raises the same NotFound whether it is not there or not theirs."""
    token = call.request.headers.get(CONDUIT, NO_TOKEN)
    claims = None if token == NO_TOKEN else read_token(call.house, call.user_id, token)
    turn_id = body.turn_exchange_id or (claims.turn_id if claims else None)
    if turn_id is None:
        return await newest_turn(call.house, call.user_id, body.conversation_id)
    turn = await find_turn(call.house, call.user_id, turn_id)
    if claims:
        check_claims(claims, turn)
    if turn.conversation_id != body.conversation_id:
        raise no_turn()
    return turn


async def _streamed(resumed: Resumed) -> Response:
    # Not on the event loop: a snapshot may be megabytes.
    opening = await asyncio.to_thread(v1.opened, resumed.opening, resumed.token)
    headers = {"x-turn-exchange-id": resumed.turn.turn_id}
    has_ended = resumed.turn.finished_at is not None
    return stream(resumed.view, resumed.coming, headers, opening, has_ended=has_ended)


def _after(call: Call) -> int:
    last = call.request.headers.get("last-event-id")
    if last is None:
        return call.number("after", 0, most=MOST_EVENTS)
    if not last.isascii() or not last.isdigit() or len(last) > 9:
        raise Refused("`Last-Event-ID` has to be the number of an event.", param="Last-Event-ID")
    return int(last)


async def _last_seq(call: Call, turn_id: str) -> int:
    if running := call.house.runner.find(turn_id, call.user_id):
        return len(running.log)
    return await call.house.services.store.turns.last_seq(turn_id, call.user_id)
