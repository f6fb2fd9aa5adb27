"""Coming back to a turn: what a reader shows that was cut off, and how its stream goes on.

The two routes and the socket share it. It knows what is read and by whom, and nothing of how
the bytes travel.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from typing import ClassVar, NamedTuple

from hitsend.errors import Gone, PassInvalid
from hitsend.events import Stamped, TextArrived
from hitsend.runner import check_readable
from hitsend.server import passes
from hitsend.server.calls import House
from hitsend.store.turns import no_turn
from hitsend.wire import typed
from hitsend.wire.v1 import V1View, channels
from hitsend.work import is_end

TOKEN_S = 7200
MAX_BEHIND_CHARS = 4 * 1024 * 1024
"""A reader that is further behind is shown what came of it, not how it came."""
TOPIC = "conversation-turn-"


class ResumePass(passes.Claims, frozen=True, kw_only=True):
    """Lets its holder read this turn, as long as it is theirs."""

    kind: ClassVar[str] = "resume"

    conversation_id: str
    turn_id: str
    epoch: int


class Standing(NamedTuple):
    """A turn of somebody's, as they come back to it."""

    turn_id: str
    conversation_id: str
    epoch: int
    finished_at: float | None

    @property
    def topic_id(self) -> str:
        return TOPIC + self.turn_id


class Resumed(NamedTuple):
    """A stream that goes on: how it opens, then what comes, in the words of `view`."""

    turn: Standing
    view: V1View
    opening: typed.Opening
    token: typed.ResumeToken
    """A fresh one, for the next time."""
    last_seq: int
    """The last event there was. What comes may begin before it."""
    coming: AsyncGenerator[Sequence[Stamped], None]


async def find_turn(house: House, user_id: str, turn_id: str) -> Standing:
    """Raises NotFound where it is not there or not theirs."""
    if running := house.runner.find(turn_id, user_id):
        conversation_id, finished_at = running.conversation_id, running.finished_at
        return Standing(turn_id, conversation_id, running.epoch, finished_at)
    row = await house.services.store.turns.get(turn_id, user_id)
    return Standing(turn_id, row.conversation_id or "", row.epoch, row.finished_at)


async def newest_turn(house: House, user_id: str, conversation_id: str) -> Standing:
    """The one that runs in the conversation, or ran last. Raises NotFound."""
    turn_id = await house.services.store.turns.newest(conversation_id, user_id)
    if turn_id is None:
        raise no_turn()
    return await find_turn(house, user_id, turn_id)


async def opened(
    house: House, user_id: str, turn_id: str, offset: int | None, is_compact: bool = False
) -> Resumed:
    """The stream of a turn from event `offset` on; None is from now on. Raises NotFound, and
    Gone for a turn that ended too long ago to be streamed."""
    settings = house.services.settings
    turn = await find_turn(house, user_id, turn_id)
    check_streamed(turn, settings.resume_s)
    running = house.runner.find(turn_id, user_id)
    if running is None:
        check_readable(turn.finished_at)
    log = list(running.log) if running else await _stored(house, user_id, turn_id)
    token = resume_token(house, user_id, turn)
    # Not on the event loop: whoever comes back to a long answer has everyone else waiting.
    view = V1View(settings.pad, token)
    opening = await asyncio.to_thread(_open, view, turn, log, offset, is_compact)
    after = view.seq
    if running:
        coming = running.follow(after, settings.heartbeat_s)
    else:
        coming = house.runner.tell_again(turn_id, user_id, after)
    return Resumed(turn, view, opening, token, len(log), coming)


def check_streamed(turn: Standing, resume_s: float) -> None:
    if not is_streamed(turn, resume_s):
        raise Gone("This stream is over. What became of it is in the conversation.")


def is_streamed(turn: Standing, resume_s: float) -> bool:
    """Whether it runs, or ended so recently that its readers may still come back."""
    return turn.finished_at is None or time.time() - turn.finished_at <= resume_s


def resume_token(house: House, user_id: str, turn: Standing) -> typed.ResumeToken:
    expires_at = round(time.time() + TOKEN_S, 3)
    claims = ResumePass(
        user_id=user_id,
        expires_at=expires_at,
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        epoch=turn.epoch,
    )
    signed = passes.sign(house.secret, claims)
    return typed.ResumeToken(signed, turn.conversation_id, turn.turn_id, expires_at)


def check_token(house: House, user_id: str, turn: Standing, token: str) -> None:
    """Raises PassInvalid unless it was given out for this very turn, and PassExpired."""
    check_claims(read_token(house, user_id, token), turn)


def read_token(house: House, user_id: str, token: str) -> ResumePass:
    return passes.read(house.secret, ResumePass, token, user_id)


def check_claims(claims: ResumePass, turn: Standing) -> None:
    named = (claims.turn_id, claims.conversation_id, claims.epoch)
    if named != (turn.turn_id, turn.conversation_id, turn.epoch):
        raise PassInvalid("This token is for another stream.")


def _open(
    view: V1View, turn: Standing, log: Sequence[Stamped], offset: int | None, is_compact: bool
) -> typed.Opening:
    """Takes the view to where the stream goes on."""
    offset = len(log) if offset is None else offset
    if is_compact or offset > len(log) or _is_far_behind(log[offset:]):
        past = log[: _before_end(log)]
        view.skip(past)
        shown = channels(past)
        return typed.StreamSnapshot(turn.conversation_id, turn.turn_id, view.seq, shown, view.carry)
    view.skip(log[:offset])
    return typed.StreamResumed(turn.conversation_id, turn.turn_id, offset + 1, view.carry)


def _before_end(log: Sequence[Stamped]) -> int:
    """The last event before the end: the end itself proves what was said, so it is always told."""
    ends = (stamped.seq - 1 for stamped in log if is_end(stamped.event))
    return next(ends, len(log))


def _is_far_behind(missed: Sequence[Stamped]) -> bool:
    texts = (one.event.text for one in missed if isinstance(one.event, TextArrived))
    return sum(len(text) for text in texts) > MAX_BEHIND_CHARS


async def _stored(house: House, user_id: str, turn_id: str) -> list[Stamped]:
    return await house.services.store.turns.events(turn_id, user_id)
