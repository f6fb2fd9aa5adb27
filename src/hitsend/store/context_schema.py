"""The tables of what a model is shown besides messages: profiles, memories, summaries and vectors
of what was said, prompts and their comparisons, and who changed them."""

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
)

from hitsend.messages import Sampling
from hitsend.store.columns import Json, Word, metadata, part_of
from hitsend.store.rows import MemoryOrigin


class ProfileColumns(TypedColumns):
    """What a person tells every conversation of theirs."""

    user_id: Named[str] = Column(Text, part_of("users.id"), primary_key=True)
    call_me: Named[str] = Column(Text)
    about_me: Named[str] = Column(Text)
    style: Named[str] = Column(Text)
    """How answers should be."""
    is_on: Named[bool]
    uses_memory: Named[bool]
    suggests_memories: Named[bool]
    updated_at: Named[float]


profiles = Table("profiles", metadata, ProfileColumns)


class MemoryColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    text: Named[str] = Column(Text)
    folded: Named[str] = Column(Text)
    """The text, however its letters are written: what is the same is kept once."""
    origin: Named[MemoryOrigin] = Column(Word[MemoryOrigin]())
    conversation_id: Named[str | None] = Column(
        Text, ForeignKey("conversations.id", ondelete="SET NULL"), index=True
    )
    """Where it was asked for, while that is there."""
    is_suggested: Named[bool]
    """Not accepted yet: used by nothing."""
    removed_at: Named[float | None]
    """Forgotten, with a way back for a while. From then on nothing uses it."""
    created_at: Named[float]
    updated_at: Named[float]
    embedder: Named[str | None] = Column(Text)
    vector: Named[bytes | None] = Column(LargeBinary)
    """What it is about, as `embedder` sees it. None until that was asked."""


memories = Table("memories", metadata, MemoryColumns)
Index(
    "ix_memories_removed_at",
    memories.c.removed_at,
    sqlite_where=memories.c.removed_at.is_not(None),
)


class SummaryColumns(TypedColumns):
    """Of a stretch of a conversation, from one message to another on a path through it."""

    id: Named[str] = Column(Text, primary_key=True)
    conversation_id: Named[str] = Column(Text, part_of("conversations.id"), index=True)
    first_message_id: Named[str] = Column(Text)
    last_message_id: Named[str] = Column(Text)
    level: Named[int]
    """1 sums up messages, 2 sums up summaries of level 1, and so on: coarser with age."""
    text: Named[str] = Column(Text)
    model: Named[str] = Column(Text)
    created_at: Named[float]


summaries = Table("summaries", metadata, SummaryColumns)


class ExchangeColumns(TypedColumns):
    """A question and its answer, as an embedder sees them."""

    conversation_id: Named[str] = Column(Text, part_of("conversations.id"), primary_key=True)
    message_id: Named[str] = Column(Text, primary_key=True)
    """The answer."""
    embedder: Named[str] = Column(Text)
    vector: Named[bytes] = Column(LargeBinary)


exchanges = Table("exchanges", metadata, ExchangeColumns)


class PromptVersionColumns(TypedColumns):
    """Written by an administrator. Those that come with hitsend are in its files."""

    name: Named[str] = Column(Text, primary_key=True)
    version: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    template: Named[str] = Column(Text)
    note: Named[str] = Column(Text)
    created_by: Named[str | None] = Column(Text, ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Named[float]


prompt_versions = Table("prompt_versions", metadata, PromptVersionColumns)


class PromptChoiceColumns(TypedColumns):
    """What an administrator chose for a prompt. Without a row, what comes with hitsend holds."""

    name: Named[str] = Column(Text, primary_key=True)
    version: Named[int | None]
    sampling: Named[Sampling | None] = Column(Json(Sampling))
    chosen_at: Named[float]


prompt_choices = Table("prompt_choices", metadata, PromptChoiceColumns)


class ExperimentColumns(TypedColumns):
    """Versions of a prompt that are compared, each with its share of the people."""

    id: Named[str] = Column(Text, primary_key=True)
    prompt: Named[str] = Column(Text)
    versions: Named[tuple[int, ...]] = Column(Json(tuple[int, ...]))
    started_at: Named[float]
    ended_at: Named[float | None]
    winner: Named[int | None]


experiments = Table("experiments", metadata, ExperimentColumns)
Index(
    "ix_experiments_running",
    experiments.c.prompt,
    unique=True,
    sqlite_where=experiments.c.ended_at.is_(None),
)


class TrialColumns(TypedColumns):
    """A turn that took part in a comparison."""

    turn_id: Named[str] = Column(Text, part_of("turns.id"), primary_key=True)
    experiment_id: Named[str] = Column(
        Text, part_of("experiments.id"), primary_key=True, index=True
    )
    version: Named[int]


trials = Table("trials", metadata, TrialColumns)


class AuditColumns(TypedColumns):
    """Who changed what for everyone. Nothing is ever taken out, and no text of people's is in."""

    position: Named[int] = Column(Integer, primary_key=True)
    at: Named[float]
    user_id: Named[str | None] = Column(
        Text, ForeignKey("users.id", ondelete="SET NULL"), index=True
    )
    action: Named[str] = Column(Text)
    subject: Named[str] = Column(Text)
    detail: Named[dict[str, str]] = Column(Json(dict[str, str]))


audit = Table("audit", metadata, AuditColumns)
