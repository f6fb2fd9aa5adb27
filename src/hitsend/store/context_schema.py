"""The tables of profiles, memories, summaries, exchange vectors, prompts, experiments and the audit
log."""

from sqlalchemy import (
    Column,
    Double,
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
from hitsend.store.audit_events import Via
from hitsend.store.rows import MemoryOrigin
from hitsend.store.schema import Json, LiteralText, metadata, part_of


class ProfileColumns(TypedColumns):
    """A person's custom instructions."""

    user_id: Named[str] = Column(Text, part_of("users.id"), primary_key=True)
    call_me: Named[str] = Column(Text)
    about_me: Named[str] = Column(Text)
    style: Named[str] = Column(Text)
    """How answers should be written."""
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
    """The text without case and Unicode variants, to find duplicates."""
    origin: Named[MemoryOrigin] = Column(LiteralText[MemoryOrigin]())
    conversation_id: Named[str | None] = Column(
        Text, ForeignKey("conversations.id", ondelete="SET NULL"), index=True
    )
    """Where the person asked for it, until that is deleted."""
    is_suggested: Named[bool]
    """Not accepted yet, so not used."""
    removed_at: Named[float | None]
    """When it was deleted. It is not used, and can be restored for a short time."""
    created_at: Named[float]
    updated_at: Named[float]
    embedder: Named[str | None] = Column(Text)
    vector: Named[bytes | None] = Column(LargeBinary)
    """The embedding of its text by `embedder`. None until computed."""


memories = Table("memories", metadata, MemoryColumns)
Index(
    "ix_memories_removed_at",
    memories.c.removed_at,
    sqlite_where=memories.c.removed_at.is_not(None),
)


class SummaryColumns(TypedColumns):
    """A summary of a range of messages on one path of a conversation."""

    id: Named[str] = Column(Text, primary_key=True)
    conversation_id: Named[str] = Column(Text, part_of("conversations.id"), index=True)
    first_message_id: Named[str] = Column(Text)
    last_message_id: Named[str] = Column(Text)
    level: Named[int]
    """1 summarises messages, 2 summarises summaries of level 1, and so on."""
    text: Named[str] = Column(Text)
    model: Named[str] = Column(Text)
    created_at: Named[float]


summaries = Table("summaries", metadata, SummaryColumns)


class ExchangeColumns(TypedColumns):
    """The embedding of a question and its answer."""

    conversation_id: Named[str] = Column(Text, part_of("conversations.id"), primary_key=True)
    message_id: Named[str] = Column(Text, primary_key=True)
    """The answer's id."""
    embedder: Named[str] = Column(Text)
    vector: Named[bytes] = Column(LargeBinary)


exchanges = Table("exchanges", metadata, ExchangeColumns)


class PromptVersionColumns(TypedColumns):
    """Versions an administrator wrote. The shipped ones are files."""

    name: Named[str] = Column(Text, primary_key=True)
    version: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    template: Named[str] = Column(Text)
    note: Named[str] = Column(Text)
    created_by: Named[str | None] = Column(Text, ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Named[float]


prompt_versions = Table("prompt_versions", metadata, PromptVersionColumns)


class PromptChoiceColumns(TypedColumns):
    """An administrator's choice for a prompt. Without a row, the shipped version is used."""

    name: Named[str] = Column(Text, primary_key=True)
    version: Named[int | None]
    sampling: Named[Sampling | None] = Column(Json(Sampling))
    chosen_at: Named[float]


prompt_choices = Table("prompt_choices", metadata, PromptChoiceColumns)


class ExperimentColumns(TypedColumns):
    """An A/B test of prompt versions. Each person gets one of them."""

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
    """A turn that took part in an experiment."""

    turn_id: Named[str] = Column(Text, part_of("turns.id"), primary_key=True)
    experiment_id: Named[str] = Column(
        Text, part_of("experiments.id"), primary_key=True, index=True
    )
    version: Named[int]


trials = Table("trials", metadata, TrialColumns)


class AuditLogColumns(TypedColumns):
    """Entries are appended. Triggers refuse updates, and deletions of entries younger than those
    whose end the log itself has recorded."""

    position: Named[int] = Column(Integer, primary_key=True)
    at: Named[float] = Column(Double, index=True)
    kind: Named[str] = Column(Text, index=True)
    actor_id: Named[str | None] = Column(Text, index=True)
    actor_name: Named[str | None] = Column(Text)
    """The hash of a row of `audit_names`, as in `subject_name`."""
    subject_id: Named[str | None] = Column(Text, index=True)
    subject_name: Named[str | None] = Column(Text)
    via: Named[Via] = Column(LiteralText[Via]())
    address: Named[str] = Column(Text)
    session_id: Named[str | None] = Column(Text)
    key_id: Named[str | None] = Column(Text)
    agent: Named[str] = Column(Text)
    event: Named[str] = Column(Text)
    """JSON, kept as text because the hash covers these very bytes."""
    hash: Named[bytes] = Column(LargeBinary)


audit_log = Table("audit_log", metadata, AuditLogColumns)


class AuditNameColumns(TypedColumns):
    """Names of accounts as they were. Those of a deleted account are erased."""

    hash: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, index=True)
    name: Named[str] = Column(Text)
    salt: Named[bytes] = Column(LargeBinary)


audit_names = Table("audit_names", metadata, AuditNameColumns)
