"""The tables, as SQLAlchemy sees them. Times are Unix seconds.

The migrations make them; a test holds the two to the same result. The full text tables and
the triggers that keep them in step are the migrations' alone: see `search`.
"""

from typing import Generic, TypeVar

import msgspec
from sqlalchemy import (
    Boolean,
    Column,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Named,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

from hitsend.events import Action, Ending
from hitsend.messages import Message, Part, Rating, Reason, Role, Sampling, Seen, Usage
from hitsend.store.rows import AccountRole, LimitScope, MemoryOrigin, Surface, TurnState
from hitsend.transcript import Status

HEAD = "0005"
"""The newest migration. A test holds it to what migrations/ says."""

T = TypeVar("T")


class Word(TypeDecorator[T], Generic[T]):
    """A word of a closed list. Only the type checker knows which."""

    impl = Text
    cache_ok = True


class Json(TypeDecorator[T], Generic[T]):
    """A value of a known type, as JSON text: SQLite's own JSON functions can read it."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: object) -> None:
        super().__init__()
        self.kind = kind
        self._decoder = msgspec.json.Decoder(kind)

    def process_bind_param(self, value: T | None, dialect: Dialect) -> str | None:
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> T | None:
        return None if value is None else self._decoder.decode(value)


metadata = MetaData()


def _of(column: str) -> ForeignKey:
    """What it belongs to; it goes when that goes."""
    return ForeignKey(column, ondelete="CASCADE")


class GroupColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    name: Named[str] = Column(Text, unique=True)
    created_at: Named[float]


groups = Table("groups", metadata, GroupColumns)


class UserColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    name: Named[str] = Column(Text)
    name_key: Named[str] = Column(Text, unique=True)
    """The name as compared: two names that read alike are one."""
    password_hash: Named[str] = Column(Text)
    role: Named[AccountRole] = Column(Word[AccountRole]())
    created_at: Named[float]
    disabled_at: Named[float | None]
    group_id: Named[str | None] = Column(
        Text, ForeignKey("groups.id", ondelete="SET NULL"), index=True
    )


users = Table("users", metadata, UserColumns)


class SessionColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, _of("users.id"), index=True)
    token_hash: Named[str] = Column(Text, unique=True)
    previous_token_hash: Named[str | None] = Column(Text, index=True)
    rotated_at: Named[float]
    arrived_at: Named[float | None]
    """When the browser first used its newest token. Until then the one before holds too."""
    created_at: Named[float]
    last_seen_at: Named[float]
    expires_at: Named[float]
    revoked_at: Named[float | None]
    user_agent: Named[str] = Column(Text)


sessions = Table("sessions", metadata, SessionColumns)


class ApiKeyColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, _of("users.id"), index=True)
    prefix: Named[str] = Column(Text)
    key_hash: Named[str] = Column(Text, unique=True)
    label: Named[str] = Column(Text)
    created_at: Named[float]
    last_used_at: Named[float | None]
    revoked_at: Named[float | None]


api_keys = Table("api_keys", metadata, ApiKeyColumns)


class InviteColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    token_hash: Named[str] = Column(Text, unique=True)
    role: Named[AccountRole] = Column(Word[AccountRole]())
    created_by: Named[str] = Column(Text, _of("users.id"), index=True)
    created_at: Named[float]
    expires_at: Named[float]
    used_by: Named[str | None] = Column(
        Text, ForeignKey("users.id", ondelete="SET NULL"), index=True
    )
    used_at: Named[float | None]
    revoked_at: Named[float | None]


invites = Table("invites", metadata, InviteColumns)


class FolderColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, _of("users.id"), index=True)
    name: Named[str] = Column(Text)
    created_at: Named[float]


folders = Table("folders", metadata, FolderColumns)


class ConversationColumns(TypedColumns):
    position: Named[int] = Column(Integer, primary_key=True)
    """The number its title goes by in `title_search`."""
    id: Named[str] = Column(Text, unique=True)
    user_id: Named[str] = Column(Text, _of("users.id"))
    title: Named[str] = Column(Text)
    is_renamed: Named[bool]
    """The person chose the title: no model changes it."""
    created_at: Named[float]
    updated_at: Named[float]
    current_node: Named[str | None] = Column(Text)
    is_archived: Named[bool]
    is_pinned: Named[bool] = Column(Boolean, server_default=false())
    folder_id: Named[str | None] = Column(
        Text, ForeignKey("folders.id", ondelete="SET NULL"), index=True
    )
    hidden_at: Named[float | None]
    """When it was deleted with a way back. From then on nobody sees it."""
    is_temporary: Named[bool] = Column(Boolean, server_default=false())
    """In no list, with no memory, and erased after a day."""


conversations = Table("conversations", metadata, ConversationColumns)
# In the order of the list, with all that a list may ask for: it is counted without a look at any
# row, and walked without a look at those that are not shown.
Index(
    "ix_conversations_list",
    conversations.c.user_id,
    conversations.c.updated_at,
    conversations.c.position,
    conversations.c.is_archived,
    conversations.c.is_pinned,
    conversations.c.folder_id,
    conversations.c.hidden_at,
    conversations.c.is_temporary,
)
Index(
    "ix_conversations_hidden",
    conversations.c.hidden_at,
    sqlite_where=conversations.c.hidden_at.is_not(None),
)
Index(
    "ix_conversations_temporary",
    conversations.c.updated_at,
    sqlite_where=conversations.c.is_temporary.is_(True),
)


class TurnColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, _of("users.id"), index=True)
    conversation_id: Named[str | None] = Column(Text, _of("conversations.id"), index=True)
    surface: Named[Surface] = Column(Word[Surface]())
    action: Named[Action] = Column(Word[Action]())
    model: Named[str] = Column(Text)
    answer_id: Named[str] = Column(Text)
    state: Named[TurnState] = Column(Word[TurnState]())
    created_at: Named[float]
    finished_at: Named[float | None]
    num_input_tokens: Named[int]
    num_cached_tokens: Named[int]
    num_output_tokens: Named[int]
    given: Named[tuple[Message, ...] | None] = Column(Json(tuple[Message, ...]))
    """What an API call brought along, for it has no conversation to look in."""
    epoch: Named[int] = Column(Integer, server_default=text("0"))
    """Which start of the server ran it."""


turns = Table("turns", metadata, TurnColumns)
Index("ix_turns_running", turns.c.state, sqlite_where=turns.c.state == "running")


class MessageColumns(TypedColumns):
    position: Named[int] = Column(Integer, primary_key=True)
    """The order of siblings, and the number its text goes by in `message_search`."""
    conversation_id: Named[str] = Column(Text, _of("conversations.id"))
    id: Named[str] = Column(Text, index=True)
    """Made by the client: one conversation's ids are nothing to another's."""
    parent_id: Named[str | None] = Column(Text)
    turn_id: Named[str] = Column(Text, _of("turns.id"), index=True)
    role: Named[Role] = Column(Word[Role]())
    parts: Named[tuple[Part, ...]] = Column(Json(tuple[Part, ...]))
    status: Named[Status] = Column(Word[Status]())
    ending: Named[Ending | None] = Column(Word[Ending | None]())
    model: Named[str | None] = Column(Text)
    usage: Named[Usage | None] = Column(Json(Usage))
    problem: Named[str | None] = Column(Text)
    created_at: Named[float]
    seen: Named[Seen | None] = Column(Json(Seen))
    """Of an answer: what else the model saw."""


messages = Table(
    "messages",
    metadata,
    MessageColumns,
    UniqueConstraint("conversation_id", "id"),
    ForeignKeyConstraint(
        ["conversation_id", "parent_id"], ["messages.conversation_id", "messages.id"]
    ),
    Index("ix_messages_parent", "conversation_id", "parent_id"),
)


class FeedbackColumns(TypedColumns):
    message_position: Named[int] = Column(Integer, _of("messages.position"), primary_key=True)
    rating: Named[Rating] = Column(Word[Rating]())
    reason: Named[Reason | None] = Column(Word[Reason | None]())
    text: Named[str] = Column(Text)
    created_at: Named[float]


feedback = Table("feedback", metadata, FeedbackColumns)


class ShareColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    """Whoever knows it may read what is shared."""
    conversation_id: Named[str] = Column(Text, _of("conversations.id"))
    message_id: Named[str] = Column(Text)
    """The last message that is shown. What leads to it never changes."""
    title: Named[str] = Column(Text)
    created_at: Named[float]


shares = Table("shares", metadata, ShareColumns, UniqueConstraint("conversation_id", "message_id"))


class TurnEventColumns(TypedColumns):
    turn_id: Named[str] = Column(Text, _of("turns.id"), primary_key=True)
    seq: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    at_ms: Named[float]
    data: Named[bytes] = Column(LargeBinary)


# Rows lie in the order they came, with the key beside them. Kept in the order of the key
# instead (WITHOUT ROWID), each turn of a group commit touches a page of its own: measured with
# 16 turns at once, that costs half as much again.
turn_events = Table("turn_events", metadata, TurnEventColumns)


class SendColumns(TypedColumns):
    user_id: Named[str] = Column(Text, _of("users.id"), primary_key=True)
    key: Named[str] = Column(Text, primary_key=True)
    fingerprint: Named[str] = Column(Text)
    """Of what was asked for. The same key may not ask for something else."""
    turn_id: Named[str] = Column(Text, _of("turns.id"), index=True)
    created_at: Named[float] = Column(Double, index=True)


sends = Table("sends", metadata, SendColumns)


class LedgerColumns(TypedColumns):
    """Outlives what it speaks of: who deletes a conversation has used its tokens nonetheless."""

    position: Named[int] = Column(Integer, primary_key=True)
    turn_id: Named[str] = Column(Text, unique=True)
    user_id: Named[str] = Column(Text, _of("users.id"))
    group_id: Named[str | None] = Column(Text)
    """The group the person was in at the time."""
    key_id: Named[str | None] = Column(Text)
    surface: Named[Surface] = Column(Word[Surface]())
    model: Named[str] = Column(Text)
    at: Named[float]
    num_reserved_tokens: Named[int]
    """What the turn may take at most, while it runs. Nothing once it has ended."""
    num_input_tokens: Named[int]
    num_cached_tokens: Named[int]
    num_output_tokens: Named[int]
    address: Named[str | None] = Column(Text)
    """Where it came from: for a minute, and only while addresses are limited."""


ledger = Table("ledger", metadata, LedgerColumns)
TAKEN = (ledger.c.num_reserved_tokens, ledger.c.num_input_tokens, ledger.c.num_output_tokens)
"""What counts against a limit. A day of a large group is summed before each of its turns: with
these in the index no row is looked at, which takes an eighth of the time."""
Index("ix_ledger_user_id_at", ledger.c.user_id, ledger.c.at, *TAKEN)
Index("ix_ledger_group_id_at", ledger.c.group_id, ledger.c.at, *TAKEN)
Index("ix_ledger_key_id_at", ledger.c.key_id, ledger.c.at, *TAKEN)
Index("ix_ledger_at", ledger.c.at)
Index(
    "ix_ledger_address_at",
    ledger.c.address,
    ledger.c.at,
    *TAKEN,
    sqlite_where=ledger.c.address.is_not(None),
)


class LimitColumns(TypedColumns):
    scope: Named[LimitScope] = Column(Word[LimitScope](), primary_key=True)
    target: Named[str] = Column(Text, primary_key=True)
    """Whose: the id of a person, group or key. Empty where it holds for everyone or every
    address."""
    requests_per_minute: Named[int | None]
    tokens_per_minute: Named[int | None]
    tokens_per_day: Named[int | None]


limits = Table("limits", metadata, LimitColumns)


class PriceColumns(TypedColumns):
    """Of a million tokens."""

    model: Named[str] = Column(Text, primary_key=True)
    input: Named[float]
    cached: Named[float]
    output: Named[float]


prices = Table("prices", metadata, PriceColumns)


class ProfileColumns(TypedColumns):
    """What a person tells every conversation of theirs."""

    user_id: Named[str] = Column(Text, _of("users.id"), primary_key=True)
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
    user_id: Named[str] = Column(Text, _of("users.id"), index=True)
    text: Named[str] = Column(Text)
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
    conversation_id: Named[str] = Column(Text, _of("conversations.id"), index=True)
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

    conversation_id: Named[str] = Column(Text, _of("conversations.id"), primary_key=True)
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

    turn_id: Named[str] = Column(Text, _of("turns.id"), primary_key=True)
    experiment_id: Named[str] = Column(Text, _of("experiments.id"), primary_key=True, index=True)
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


class MetaColumns(TypedColumns):
    key: Named[str] = Column(Text, primary_key=True)
    value: Named[bytes] = Column(LargeBinary)


meta = Table("meta", metadata, MetaColumns, sqlite_with_rowid=False)
