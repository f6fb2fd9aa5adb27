"""Step 3, screen: the safety checks read the message before the model does.

Personal data that the policy names becomes placeholders, which only the person sees through. A
blocked message is stored with an explanation in place of an answer, and no model ever sees it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from hitsend.context.attachments import find_files
from hitsend.context.notes import Note, caution_note
from hitsend.events import (
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    MessageScreened,
    TextArrived,
    TurnFinished,
)
from hitsend.messages import Attachment, Message, Part, Text, Usage
from hitsend.safety.help import explain, find_help
from hitsend.safety.policy import SEVERITY, Policy, Route, Screening
from hitsend.safety.screener import Screener
from hitsend.send import Turn
from hitsend.services import Services
from hitsend.store import Store

MAX_INLINE_CHARS = 2_000
"""A longer text is redacted in a thread."""
NUM_SCREENED_MESSAGES = 8
"""Of an API call, which brings its whole conversation: the newest messages of the person."""
NUM_JOINED_MESSAGES = 3
"""Messages of the person that are also read together: harm may be spread over them."""
MAX_JOINED_CHARS = 2_000

SomePart = TypeVar("SomePart", bound=Part)


class Screened(msgspec.Struct, frozen=True):
    turn: Turn
    """With placeholders in place of personal data."""
    policy: Policy
    screening: Screening | None = None
    """None if nothing was said: an answer is repeated or continued, or there are no checks."""

    @property
    def events(self) -> Iterator[AnyEvent]:
        if self.screening:
            yield MessageScreened(self.screening)

    @property
    def is_blocked(self) -> bool:
        return self.screening is not None and self.screening.outcome == "block"

    @property
    def is_doubtful(self) -> bool:
        """Whether the answer is read sentence by sentence."""
        return self.screening is None or self.screening.outcome in ("caution", "review")

    @property
    def notes(self) -> Sequence[Note]:
        """Tells the model to take care."""
        if self.screening is None or self.screening.outcome not in ("caution", "review"):
            return ()
        help = find_help(self.turn.send.time_zone or "") if self.screening.has_help else None
        concerns = [reason.name for reason in self.screening.reasons]
        return [caution_note(concerns, help.sentence if help else "")]

    def explain(self) -> Iterator[AnyEvent]:
        """Answers a blocked message. No model says this."""
        turn, screening = self.turn, self.screening
        assert screening is not None
        yield AnswerStarted(turn.answer_id, turn.question_id, turn.model)
        yield TextArrived(explain(screening.category or "").text)
        yield AnswerFinished(turn.answer_id, "blocked", Usage())
        yield TurnFinished("blocked")


async def screen(turn: Turn, services: Services) -> Screened:
    safety, send = services.safety, turn.send
    if safety is None:
        return Screened(turn, Policy(watches_answers=False))
    versioned = await services.store.safety_policies.find(send.user_id)
    policy = versioned.policy
    turn = await redact_turn(turn, services, policy)
    send, texts = turn.send, await _find_texts(turn, services.store)
    if not texts:
        return Screened(turn, policy)
    judge = None
    if services.judge is not None:
        judge = partial(services.judge.judge, turn_model=turn.model, user_id=send.user_id)
    route: Route = "api" if turn.is_api else "chat"
    found = [await safety.screen_prompt(text, policy, route, judge) for text in texts]
    documents = [*find_files(texts[:1]).values(), *(one.text for one in send.attachments or ())]
    found += [await safety.screen_document(text, policy) for text in documents]
    screening = _merge(found, turn, versioned.version)
    if screening.outcome == "block" and await services.store.reviews.is_allowed(
        send.user_id, send.text
    ):
        screening = replace(screening, outcome="allow", is_queued=False)
    return Screened(turn, policy, screening)


async def redact_turn(turn: Turn, services: Services, policy: Policy | None = None) -> Turn:
    """Replaces personal data in what was sent by placeholders. Without a policy, the person's."""
    safety, send = services.safety, turn.send
    if safety is None:
        return turn
    policy = policy or (await services.store.safety_policies.find(send.user_id)).policy
    if not policy.redacted:
        return turn
    num_chars = len(send.text) + sum(len(one.text) for one in send.given)
    if num_chars <= MAX_INLINE_CHARS and not send.attachments:
        return _redact(turn, safety, policy)
    return await asyncio.to_thread(_redact, turn, safety, policy)


def _redact(turn: Turn, safety: Screener, policy: Policy) -> Turn:
    send = turn.send
    own = safety.redact(send.text, policy, send.user_id)
    attachments = send.attachments
    if attachments:
        attachments = tuple(_redact_part(one, turn, safety, policy) for one in attachments)
    given = tuple(_redact_message(one, turn, safety, policy) for one in send.given)
    redacted = replace(send, text=own.text, attachments=attachments, given=given)
    return replace(turn, send=redacted, redactions=own.redactions)


def _redact_message(message: Message, turn: Turn, safety: Screener, policy: Policy) -> Message:
    parts = tuple(_redact_part(part, turn, safety, policy) for part in message.parts)
    return replace(message, parts=parts)


def _redact_part(part: SomePart, turn: Turn, safety: Screener, policy: Policy) -> SomePart:
    if not isinstance(part, Text | Attachment):
        return part
    return replace(part, text=safety.redact(part.text, policy, turn.send.user_id).text)


async def _find_texts(turn: Turn, store: Store) -> Sequence[str]:
    """Returns what the person says, and the newest of it once more together: harm may be spread
    over several messages."""
    send = turn.send
    if turn.is_api:
        said = [one.text for one in send.given if one.role == "user" and one.text]
    elif turn.user_message is None or not send.text:
        return ()
    elif send.conversation_id is None or send.parent_id is None:
        return [send.text]
    else:
        place = send.conversation_id, send.user_id, send.parent_id
        before = await store.conversations.recent_questions(*place)
        said = [*reversed(before), send.text]
    joined = "\n\n".join(said[-NUM_JOINED_MESSAGES:])[-MAX_JOINED_CHARS:]
    newest = said[-NUM_SCREENED_MESSAGES:] if turn.is_api else said[-1:]
    return list(dict.fromkeys([*reversed(newest), joined]))


def _merge(found: Sequence[Screening], turn: Turn, version: int | None) -> Screening:
    """The most severe one counts, with the reasons of all."""
    worst = max(found, key=lambda one: SEVERITY[one.outcome])
    outcome = worst.outcome
    if outcome == "allow" and turn.redactions:
        outcome = "redact"
    others = (reason for one in found if one is not worst for reason in one.reasons)
    by_name = {one.name: one for one in (*others, *reversed(worst.reasons))}
    return replace(
        worst,
        stage="prompt",
        outcome=outcome,
        reasons=tuple(by_name.values())[::-1],
        policy=UNSET if version is None else version,
        took_ms=round(sum(one.took_ms for one in found), 2),
        is_complete=all(one.is_complete for one in found),
        has_help=any(one.has_help for one in found),
    )
