"""Starts a turn once: a Send that is repeated with the same idempotency key gets the same turn."""

import asyncio
import re
import time
from collections.abc import Mapping
from typing import NamedTuple
from uuid import uuid4

import msgspec

from hitsend.errors import Refused
from hitsend.logs import TURN_ID, TURN_TRACE_ID
from hitsend.send import Send
from hitsend.server.app import App
from hitsend.server.call import Call
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.server.limits.headers import attach_allowances, rate_limit_headers
from hitsend.server.limits.send_limits import check_send_limits, record_refusals
from hitsend.server.turns.resume import TurnStatus, find_turn
from hitsend.store.sends import DuplicateSend, check_fingerprint
from hitsend.turn import run_turn
from hitsend.wire.send import SendBody, parse_send

REPLAYED = {"idempotency-replayed": "true"}
CONDUIT = "x-conduit-token"
VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")
TRACE_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
MAX_INLINE_CHARS = 1000
"""A message of this length is parsed in 0.1 ms, faster than a thread is woken."""


class StartedTurn(NamedTuple):
    turn: TurnStatus
    is_replay: bool
    """An earlier Send with the same key started the turn."""
    headers: Mapping[str, str]


async def start_once(call: Call, send: Send, *, ends_with_caller: bool = False) -> StartedTurn:
    """Starts the turn of a Send, or finds the one that the same key started. Limits apply only to
    new turns. `ends_with_caller`: a caller that is cancelled before the turn is accepted stops it.
    Raises KeyReused, and everything that refuses a turn."""
    app, trace_id = call.app, _read_trace_id(call)
    TURN_TRACE_ID.set(trace_id)
    send = msgspec.structs.replace(
        send,
        key_id=call.identity.key_id,
        address=client_address(call.request),
        request_id=call.request_id,
        turn_trace_id=trace_id,
        warm_prefix=app.prewarm.redeem(app.secret, call.user_id, call.request.headers.get(CONDUIT)),
    )
    with record_refusals(app, call.identity):
        if send.key is None:
            return await _start(call, send, ends_with_caller)
        async with app.send_locks.lock(f"{send.user_id} {send.message_id or send.key}"):
            if before := await app.services.store.turns.find_send(send.user_id, send.key):
                check_fingerprint(before, send.fingerprint)
                return await _replay(app, send, before.turn_id)
            try:
                return await _start(call, send, ends_with_caller)
            except DuplicateSend as before_us:  # under another key, or by another process just now
                return await _replay(app, send, before_us.turn_id)


async def _start(call: Call, send: Send, ends_with_caller: bool) -> StartedTurn:
    allowances = await check_send_limits(call)
    with attach_allowances(allowances):
        turn = await call.app.runner.start(
            send.user_id,
            run_turn(send, call.app.services),
            key_id=send.key_id,
            ends_with_caller=ends_with_caller,
        )
    TURN_ID.set(turn.turn_id)
    status = TurnStatus(turn.turn_id, turn.conversation_id, turn.epoch, turn.finished_at)
    return StartedTurn(status, is_replay=False, headers=rate_limit_headers(allowances))


async def _replay(app: App, send: Send, turn_id: str) -> StartedTurn:
    """Following a running turn costs little; a finished one is read from the database. One that
    ended just now has a limit of its own: the same message may have been sent many times at once,
    and all of them get the answer."""
    TURN_ID.set(turn_id)
    turn = await find_turn(app, send.user_id, turn_id)
    if turn.finished_at is not None:
        app.resume_limit.count(send.user_id, ended_s_ago=time.time() - turn.finished_at)
    return StartedTurn(turn, is_replay=True, headers=REPLAYED)


async def parse_body(app: App, body: SendBody, user_id: str, key: str | None = None) -> Send:
    """Parses a long message in a thread: normalizing its text may take a second."""
    max_chars = app.services.settings.max_message_chars
    parts = (part for message in body.messages for part in message.content.parts)
    if sum(len(part) + 1 for part in parts) <= MAX_INLINE_CHARS:
        return parse_send(body, user_id, max_chars, key)
    return await asyncio.to_thread(parse_send, body, user_id, max_chars, key)


def _read_trace_id(call: Call) -> str:
    """The client's id, where it has one: it is only shown and logged, never trusted."""
    given = call.request.headers.get("x-oai-turn-trace-id", "")
    return given if TRACE_ID.fullmatch(given) else str(uuid4())


def read_idempotency_key(call: Call) -> str | None:
    key = call.request.headers.get("idempotency-key")
    if key is not None and not VISIBLE_ASCII.fullmatch(key):
        raise Refused(
            "`Idempotency-Key` has to be 1 to 255 visible ASCII characters.",
            param="Idempotency-Key",
        )
    return key
