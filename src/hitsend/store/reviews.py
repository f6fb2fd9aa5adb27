"""The review queue: messages that the checks blocked or were unsure of, answers that people
reported, and appeals. A row has no text: it is read from the message when a reviewer opens it."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, func, select, update
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import Conflict, NotFound, Refused
from hitsend.messages import Text, hide_values
from hitsend.safety.policy import Screening
from hitsend.store.audit import record
from hitsend.store.audit_events import Actor, ReviewDecided
from hitsend.store.conversations import is_visible_to, message_not_found
from hitsend.store.database import Database, reads, writes
from hitsend.store.prepared import Prepared
from hitsend.store.rows import FinishedTurn, NewTurn
from hitsend.store.safety_schema import Decision, ReviewCause, reviews
from hitsend.store.schema import conversations, messages, turns, users
from hitsend.transcript import FoldedMessage

MAX_LISTED = 200
NUM_CONTEXT_MESSAGES = 4
"""What a reviewer may read besides the message: those before it."""

ADD_REVIEW = Prepared(
    insert(reviews).on_conflict_do_nothing(),
    *("id", "turn_id", "message_id", "user_id", "cause", "screening", "text_digest", "created_at"),
)
IS_ALLOWED = Prepared(
    select(reviews.c.id).where(
        reviews.c.user_id == bindparam("user_id"),
        reviews.c.text_digest == bindparam("text_digest"),
        reviews.c.decision == "allow",
    )
)


class Review(msgspec.Struct, frozen=True):
    id: str
    user: str
    """The name of the person."""
    cause: ReviewCause
    screening: Screening | None
    model: str
    created_at: float
    appeal: str
    appealed_at: float | None
    decision: Decision | None
    note: str
    decided_by: str | None
    decided_at: float | None


class ReviewedMessage(msgspec.Struct, frozen=True):
    role: str
    text: str
    """With placeholders in place of personal data."""
    is_reviewed: bool = False


class ReviewWithContext(msgspec.Struct, frozen=True):
    review: Review
    messages: tuple[ReviewedMessage, ...]
    """The message, and those before it. Empty where they were deleted."""


class OwnReview(msgspec.Struct, frozen=True):
    """What a person sees of the review of their message."""

    message_id: str
    appealed_at: float | None
    decision: Decision | None
    note: str
    decided_at: float | None


REVIEWER = users.alias("reviewer")
COLUMNS = (
    reviews.c.id,
    users.c.name,
    reviews.c.cause,
    reviews.c.screening,
    turns.c.model,
    reviews.c.created_at,
    reviews.c.appeal,
    reviews.c.appealed_at,
    reviews.c.decision,
    reviews.c.note,
    REVIEWER.c.name,
    reviews.c.decided_at,
)
QUEUE = (
    select(*COLUMNS)
    .join(users, users.c.id == reviews.c.user_id)
    .join(turns, turns.c.id == reviews.c.turn_id)
    .outerjoin(REVIEWER, REVIEWER.c.id == reviews.c.decided_by)
)


class Reviews:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def read_queue(
        self, connection: Connection, *, is_open: bool, offset: int = 0
    ) -> Sequence[Review]:
        """Open ones: the oldest first. Decided ones: the newest first."""
        query = QUEUE.where(_is_open() if is_open else ~_is_open())
        order = reviews.c.created_at if is_open else reviews.c.decided_at.desc()
        page = query.order_by(order, reviews.c.id).limit(MAX_LISTED).offset(offset)
        return [_as_review(row) for row in connection.execute(page)]

    @reads
    def count_open(self, connection: Connection) -> int:
        return connection.scalar(select(func.count()).where(_is_open())) or 0

    @reads
    def get(self, connection: Connection, review_id: str) -> ReviewWithContext:
        row = connection.execute(QUEUE.where(reviews.c.id == review_id)).one_or_none()
        if row is None:
            raise review_not_found()
        place = connection.execute(
            select(reviews.c.turn_id, reviews.c.message_id).where(reviews.c.id == review_id)
        ).one()
        return ReviewWithContext(_as_review(row), _read_context(connection, *place))

    @writes
    def decide(
        self, connection: Connection, review_id: str, decision: Decision, note: str, by: Actor
    ) -> Review:
        """Decides it, once. Raises Conflict if somebody has."""
        now = self._database.now()
        decided = (
            update(reviews)
            .where(reviews.c.id == review_id, _is_open())
            .values(decision=decision, note=note, decided_by=by.user_id, decided_at=now)
        )
        num_decided = connection.execute(decided).rowcount
        row = connection.execute(QUEUE.where(reviews.c.id == review_id)).one_or_none()
        if row is None:
            raise review_not_found()
        if not num_decided:
            raise Conflict("Somebody has decided this already.")
        subject = connection.scalar(select(reviews.c.user_id).where(reviews.c.id == review_id))
        record(connection, ReviewDecided(subject or "", review_id, decision), by, now)
        return _as_review(row)

    @writes
    def appeal(
        self,
        connection: Connection,
        conversation_id: str,
        message_id: str,
        user_id: str,
        words: str,
    ) -> OwnReview:
        """The person disagrees with what the checks did to a message. Once for each message, and
        not after a reviewer has decided an appeal."""
        found = _find_message(connection, conversation_id, message_id, user_id)
        screening: Screening | None = found.safety
        if screening is None or screening.outcome not in ("block", "cut", "rewrite"):
            raise Refused("Nothing of this message was blocked.", param="message_id")
        now = self._database.now()
        _add(connection, found, user_id, "appeal", now)
        query = select(*OWN_COLUMNS, reviews.c.id).where(_is_of(found))
        *_, appealed_at, decision, _, _, review_id = connection.execute(query).one()
        if appealed_at is not None:
            raise Conflict("You have asked for a review of this message already.")
        changed = {"appeal": words, "appealed_at": now, "cause": "appeal"}
        if decision is not None:  # it was decided before anybody heard the person
            changed |= {"decision": None, "decided_at": None, "decided_by": None, "note": ""}
        connection.execute(update(reviews).where(reviews.c.id == review_id).values(changed))
        return OwnReview(*connection.execute(select(*OWN_COLUMNS).where(_is_of(found))).one())

    @reads
    def list_own(
        self, connection: Connection, conversation_id: str, user_id: str
    ) -> Sequence[OwnReview]:
        """Returns the appeals in a conversation of the person, and what came of them."""
        query = (
            select(*OWN_COLUMNS)
            .join(turns, turns.c.id == reviews.c.turn_id)
            .join(conversations, conversations.c.id == turns.c.conversation_id)
            .where(is_visible_to(conversation_id, user_id), reviews.c.appealed_at.is_not(None))
        )
        return [OwnReview(*row) for row in connection.execute(query)]

    @reads
    def is_allowed(self, connection: Connection, user_id: str, text: str) -> bool:
        """Whether a reviewer has allowed this very text of this person."""
        digest = digest_text(text)
        return IS_ALLOWED.first(connection, user_id=user_id, text_digest=digest) is not None


OWN_COLUMNS = (
    reviews.c.message_id,
    reviews.c.appealed_at,
    reviews.c.decision,
    reviews.c.note,
    reviews.c.decided_at,
)


def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def review_row(new: NewTurn, message_id: str, screening: Screening) -> Mapping[str, object]:
    """For a message that its own turn blocked."""
    text = "".join(part.text for part in new.parts if isinstance(part, Text))
    return {
        "id": str(uuid4()),
        "turn_id": new.turn_id,
        "message_id": message_id,
        "user_id": new.user_id,
        "cause": "checks",
        "screening": screening,
        "text_digest": digest_text(text) if screening.outcome == "block" else None,
        "created_at": new.created_at,
    }


def queue_answer(connection: Connection, turn: FinishedTurn, message: FoldedMessage) -> None:
    """Puts an answer into the queue, if somebody shall look at it."""
    screening = message.safety
    if screening is None or not screening.is_queued:
        return
    user_id = connection.scalar(select(turns.c.user_id).where(turns.c.id == turn.turn_id))
    if user_id is not None:
        ADD_REVIEW.run(
            connection,
            id=str(uuid4()),
            turn_id=turn.turn_id,
            message_id=message.message_id,
            user_id=user_id,
            cause="checks",
            screening=screening,
            text_digest=None,
            created_at=turn.finished_at,
        )


def report_answer(
    connection: Connection, conversation_id: str, message_id: str, user_id: str, now: float
) -> None:
    """Puts an answer that the person calls unsafe into the queue."""
    found = _find_message(connection, conversation_id, message_id, user_id)
    _add(connection, found, user_id, "report", now)


def _as_review(row: Sequence[Any]) -> Review:
    return Review(*row)


def review_not_found() -> NotFound:
    return NotFound("There is no such review.", param="review_id")


def _is_open() -> ColumnElement[bool]:
    return reviews.c.decision.is_(None)


def _is_of(found: Row[*tuple[object, ...]]) -> ColumnElement[bool]:
    return and_(reviews.c.turn_id == found.turn_id, reviews.c.message_id == found.id)


def _add(
    connection: Connection,
    found: Row[*tuple[object, ...]],
    user_id: str,
    cause: ReviewCause,
    now: float,
) -> None:
    ADD_REVIEW.run(
        connection,
        id=str(uuid4()),
        turn_id=found.turn_id,
        message_id=found.id,
        user_id=user_id,
        cause=cause,
        screening=found.safety,
        text_digest=digest_text(_text(found.parts)) if found.role == "user" else None,
        created_at=now,
    )


def _find_message(
    connection: Connection, conversation_id: str, message_id: str, user_id: str
) -> Row[*tuple[object, ...]]:
    columns = (
        messages.c.id,
        messages.c.turn_id,
        messages.c.role,
        messages.c.parts,
        messages.c.safety,
    )
    query = (
        select(*columns)
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(is_visible_to(conversation_id, user_id), messages.c.id == message_id)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise message_not_found()
    return row


def _read_context(
    connection: Connection, turn_id: str, message_id: str
) -> tuple[ReviewedMessage, ...]:
    turn = connection.execute(
        select(turns.c.given, turns.c.conversation_id).where(turns.c.id == turn_id)
    ).one()
    if turn.given is not None:
        given = turn.given[-NUM_CONTEXT_MESSAGES:]
        return tuple(ReviewedMessage(one.role, one.text, one is given[-1]) for one in given)
    found: list[ReviewedMessage] = []
    next_id: str | None = message_id
    while next_id and len(found) <= NUM_CONTEXT_MESSAGES:
        row = connection.execute(
            select(messages.c.id, messages.c.role, messages.c.parts, messages.c.parent_id).where(
                messages.c.conversation_id == turn.conversation_id, messages.c.id == next_id
            )
        ).one_or_none()
        if row is None:
            break
        found.append(ReviewedMessage(row.role, _text(row.parts), row.id == message_id))
        next_id = row.parent_id
    return tuple(reversed(found))


def _text(parts: object) -> str:
    assert isinstance(parts, tuple)
    hidden = map(hide_values, parts)
    return "".join(part.text for part in hidden if isinstance(part, Text))
