"""Resuming a turn's stream: finds the turn, and opens its stream where the reader left off.

Two routes and the socket use it. It does not know how the bytes are transported.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from typing import ClassVar, NamedTuple

from hitsend.errors import Gone, TokenInvalid
from hitsend.events import Stamped, TextArrived, is_end
from hitsend.runner import check_readable
from hitsend.server.app import App
from hitsend.server.auth import signed_tokens
from hitsend.store.turns import turn_not_found
from hitsend.wire import side_events
from hitsend.wire.v1 import V1View, build_channels

TOKEN_S = 7200
MAX_BEHIND_CHARS = 4 * 1024 * 1024
"""A reader that missed more than this gets a snapshot in place of the events."""
TOPIC = "conversation-turn-"


class ResumeClaims(signed_tokens.Claims, frozen=True, kw_only=True):
    """Allows its user to resume one turn."""

    kind: ClassVar[str] = "resume"

    conversation_id: str
    turn_id: str
    epoch: int


class TurnStatus(NamedTuple):
    """A turn of the caller's, running or ended."""

    turn_id: str
    conversation_id: str
    epoch: int
    finished_at: float | None

    @property
    def topic_id(self) -> str:
        return TOPIC + self.turn_id


class ResumedStream(NamedTuple):
    turn: TurnStatus
    view: V1View
    opening: side_events.Opening
    """Comes before the first batch."""
    token: side_events.ResumeToken
    """For the next resume."""
    last_seq: int
    """The last event when the stream was opened. The batches may begin before it."""
    batches: AsyncGenerator[Sequence[Stamped], None]


async def find_turn(app: App, user_id: str, turn_id: str) -> TurnStatus:
    """Raises NotFound if there is no such turn, or it is another user's."""
    if running := app.runner.find(turn_id, user_id):
        conversation_id, finished_at = running.conversation_id, running.finished_at
        return TurnStatus(turn_id, conversation_id, running.epoch, finished_at)
    row = await app.services.store.turns.get(turn_id, user_id)
    return TurnStatus(turn_id, row.conversation_id or "", row.epoch, row.finished_at)


async def find_newest_turn(app: App, user_id: str, conversation_id: str) -> TurnStatus:
    """Raises NotFound if the conversation has no turn."""
    turn_id = await app.services.store.turns.find_newest(conversation_id, user_id)
    if turn_id is None:
        raise turn_not_found()
    return await find_turn(app, user_id, turn_id)


async def open_stream(
    app: App,
    user_id: str,
    turn_id: str,
    offset: int | None,
    *,
    is_compact: bool = False,
    has_afterword: bool = False,
) -> ResumedStream:
    """Opens the stream after event `offset`; None means only new events. `has_afterword` also waits
    for events after the turn's end. Raises NotFound, and Gone for a turn that ended too long ago.
    """
    settings = app.services.settings
    turn = await find_turn(app, user_id, turn_id)
    if not is_resumable(turn, settings.resume_s):
        raise Gone("This stream is over. Its result is in the conversation.")
    running = app.runner.find(turn_id, user_id)
    if running is None:
        check_readable(turn.finished_at)
        log = await app.services.store.turns.events(turn_id, user_id)
    else:
        log = list(running.events)
    token = sign_resume_token(app, user_id, turn)
    view = V1View(settings.pad, token)
    # In a thread: folding a long answer would block the event loop for everyone.
    opening = await asyncio.to_thread(_open, view, turn, log, offset, is_compact)
    if running:
        batches = running.follow(view.seq, settings.heartbeat_s, has_afterword=has_afterword)
    else:
        batches = app.runner.replay(turn_id, user_id, view.seq)
    return ResumedStream(turn, view, opening, token, len(log), batches)


def is_resumable(turn: TurnStatus, resume_s: float) -> bool:
    """True while the turn runs, and for `resume_s` after its end."""
    return turn.finished_at is None or time.time() - turn.finished_at <= resume_s


def sign_resume_token(app: App, user_id: str, turn: TurnStatus) -> side_events.ResumeToken:
    expires_at = round(time.time() + TOKEN_S, 3)
    claims = ResumeClaims(
        user_id=user_id,
        expires_at=expires_at,
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        epoch=turn.epoch,
    )
    signed = signed_tokens.sign(app.secret, claims)
    return side_events.ResumeToken(signed, turn.conversation_id, turn.turn_id, expires_at)


def verify_resume_token(app: App, user_id: str, token: str) -> ResumeClaims:
    """Raises TokenInvalid and TokenExpired."""
    return signed_tokens.verify(app.secret, ResumeClaims, token, user_id)


def check_claims(claims: ResumeClaims, turn: TurnStatus) -> None:
    """Raises TokenInvalid unless the token was signed for this turn."""
    claimed = (claims.turn_id, claims.conversation_id, claims.epoch)
    if claimed != (turn.turn_id, turn.conversation_id, turn.epoch):
        raise TokenInvalid("This token is for another stream.")


def _open(
    view: V1View, turn: TurnStatus, log: Sequence[Stamped], offset: int | None, is_compact: bool
) -> side_events.Opening:
    """Advances the view to where the stream continues."""
    offset = len(log) if offset is None else offset
    if is_compact or offset > len(log) or _is_far_behind(log[offset:]):
        past = log[: _index_of_end(log)]
        view.skip(past)
        shown = build_channels(past)
        return side_events.StreamSnapshot(
            turn.conversation_id, turn.turn_id, view.seq, shown, view.carry
        )
    view.skip(log[:offset])
    return side_events.StreamResumed(turn.conversation_id, turn.turn_id, offset + 1, view.carry)


def _index_of_end(log: Sequence[Stamped]) -> int:
    """A snapshot stops before the end event, which holds the checksum of the text: the reader
    always gets that one as an event."""
    ends = (stamped.seq - 1 for stamped in log if is_end(stamped.event))
    return next(ends, len(log))


def _is_far_behind(missed: Sequence[Stamped]) -> bool:
    texts = (stamped.event.text for stamped in missed if isinstance(stamped.event, TextArrived))
    return sum(len(text) for text in texts) > MAX_BEHIND_CHARS
