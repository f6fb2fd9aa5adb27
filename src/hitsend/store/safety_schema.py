"""The tables of the safety layer: what the checks made of messages, what people review, and the
policies of administrators. None of them contains a message."""

from typing import Literal, TypeAlias

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    Named,
    Table,
    Text,
    TypedColumns,
    true,
)
from sqlalchemy import text as sql

from hitsend.safety.policy import Outcome, Policy, Screening
from hitsend.safety.rules import Stage
from hitsend.store.schema import Json, LiteralText, metadata, part_of

ReviewCause: TypeAlias = Literal["checks", "report", "appeal"]
"""Why somebody shall look: the checks were unsure or blocked, somebody reported the answer, or the
person disagrees."""
Decision: TypeAlias = Literal["uphold", "allow"]


class ScreeningColumns(TypedColumns):
    """One row for each message of a turn that was checked."""

    turn_id: Named[str] = Column(Text, part_of("turns.id"), primary_key=True)
    stage: Named[Stage] = Column(LiteralText[Stage](), primary_key=True)
    message_id: Named[str] = Column(Text, primary_key=True)
    """Empty for the messages of an API call."""
    outcome: Named[Outcome] = Column(LiteralText[Outcome]())
    category: Named[str | None] = Column(Text)
    score: Named[float | None]
    took_ms: Named[float]
    is_complete: Named[bool] = Column(Boolean, server_default=true())
    prompt_version: Named[int | None] = Column(Integer)
    """Of the instructions that told the model how to be safe."""
    created_at: Named[float]


screenings = Table("screenings", metadata, ScreeningColumns, sqlite_with_rowid=False)
Index("ix_screenings_created_at", screenings.c.created_at)


class ReviewColumns(TypedColumns):
    """Something that a person shall look at. It is deleted with its message."""

    id: Named[str] = Column(Text, primary_key=True)
    turn_id: Named[str] = Column(Text, part_of("turns.id"))
    message_id: Named[str] = Column(Text)
    user_id: Named[str] = Column(Text, part_of("users.id"))
    cause: Named[ReviewCause] = Column(LiteralText[ReviewCause]())
    screening: Named[Screening | None] = Column(Json(Screening))
    """None for an answer in which the checks found nothing."""
    text_digest: Named[str | None] = Column(Text)
    """Of a blocked message: the person may send it once a reviewer has allowed it."""
    created_at: Named[float]
    appeal: Named[str] = Column(Text, server_default="")
    """Why the person disagrees, in their words."""
    appealed_at: Named[float | None]
    decision: Named[Decision | None] = Column(LiteralText[Decision | None]())
    note: Named[str] = Column(Text, server_default="")
    """What the reviewer says to the person."""
    decided_by: Named[str | None] = Column(Text, ForeignKey("users.id", ondelete="SET NULL"))
    decided_at: Named[float | None]


reviews = Table("reviews", metadata, ReviewColumns)
Index("ix_reviews_message", reviews.c.turn_id, reviews.c.message_id, unique=True)
Index("ix_reviews_open", reviews.c.created_at, sqlite_where=reviews.c.decision.is_(None))
Index("ix_reviews_user_id", reviews.c.user_id, reviews.c.text_digest)
Index("ix_reviews_decided_by", reviews.c.decided_by)


class SafetyPolicyColumns(TypedColumns):
    """What an administrator changed. Without a row the shipped policy counts."""

    scope: Named[str] = Column(Text, primary_key=True)
    """The id of a group, or `everyone`."""
    policy: Named[Policy] = Column(Json(Policy))
    version: Named[int] = Column(Integer, server_default=sql("1"))
    changed_at: Named[float]


safety_policies = Table("safety_policies", metadata, SafetyPolicyColumns)
