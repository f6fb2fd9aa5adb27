"""Sending something once, however often it is sent: the same key gets the same turn."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from hitsend.allowance import Allowance
from hitsend.errors import Refused
from hitsend.send import Send
from hitsend.server.addresses import address_of
from hitsend.server.calls import Call, House
from hitsend.server.rates import rate_headers, telling
from hitsend.server.resuming import Standing, find_turn
from hitsend.store.sends import SentBefore, check_same
from hitsend.turn import run_turn

REPLAYED = {"idempotency-replayed": "true"}
CONDUIT = "x-conduit-token"

Admit = Callable[[], Awaitable[Sequence[Allowance]]]
"""May another turn be started? What is left of the limits goes with the answer, as headers."""


class Sent(NamedTuple):
    turn: Standing
    is_replay: bool
    """It was sent before: this is the turn that was started then."""
    headers: Mapping[str, str]

    @property
    def turn_id(self) -> str:
        return self.turn.turn_id

    @property
    def conversation_id(self) -> str:
        return self.turn.conversation_id


async def send_once(house: House, sent: Send, admit: Admit) -> Sent:
    """Starts the turn, or finds the one that the same key started. Only a turn that is to be
    started has to be admitted. Raises KeyReused, and whatever refuses the turn."""
    if sent.key is None:
        return await _started(house, sent, admit)
    async with house.sending.one_of(f"{sent.user_id} {sent.message_id or sent.key}"):
        if before := await house.services.store.turns.sent(sent.user_id, sent.key):
            check_same(before, sent.fingerprint)
            return await _replayed(house, sent, before.turn_id)
        try:
            return await _started(house, sent, admit)
        except SentBefore as before_us:  # under another key, or by another process just now
            return await _replayed(house, sent, before_us.turn_id)


def given_key(call: Call) -> str | None:
    """What the caller wants a Send to be called by."""
    key = call.request.headers.get("idempotency-key")
    if key is not None and not VISIBLE.fullmatch(key):
        raise Refused(
            "`Idempotency-Key` has to be 1 to 255 visible ASCII characters.",
            param="Idempotency-Key",
        )
    return key


def brought(call: Call, asked: Send) -> Send:
    """With what the call itself says: which key it came with, from where, and what was read ahead
    for it."""
    house, token = call.house, call.request.headers.get(CONDUIT)
    return msgspec.structs.replace(
        asked,
        key_id=call.person.key_id,
        address=address_of(call.request),
        warmth=house.warming.brought(house.secret, call.user_id, token),
    )


async def _started(house: House, sent: Send, admit: Admit) -> Sent:
    left = await admit()
    with telling(left):
        turn = await house.runner.start(sent.user_id, run_turn(sent, house.services))
    standing = Standing(turn.turn_id, turn.conversation_id, turn.epoch, turn.finished_at)
    return Sent(standing, is_replay=False, headers=rate_headers(left))


async def _replayed(house: House, sent: Send, turn_id: str) -> Sent:
    await house.returns.count(sent.user_id)
    turn = await find_turn(house, sent.user_id, turn_id)
    return Sent(turn, is_replay=True, headers=REPLAYED)


VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")
