"""The tables of people, what they said, and what that cost. Times are Unix seconds.

The migrations make them; a test holds the two to the same result. The full text tables and
the triggers that keep them in step are the migrations' alone: see `search`. What a model is shown
besides is in `context_schema`.
"""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    false,
    text,
)

from hitsend.events import Action, Ending
from hitsend.messages import Message, Part, Rating, Reason, Role, Seen, Usage
from hitsend.store.columns import Json, Word, metadata, part_of
from hitsend.store.rows import AccountRole, LimitScope, Surface, TurnState
from hitsend.transcript import Status

HEAD = "0006"
"""The newest migration. A test holds it to what migrations/ says."""


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
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
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
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
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
    created_by: Named[str] = Column(Text, part_of("users.id"), index=True)
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
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    name: Named[str] = Column(Text)
    created_at: Named[float]


folders = Table("folders", metadata, FolderColumns)


class ConversationColumns(TypedColumns):
    position: Named[int] = Column(Integer, primary_key=True)
    """The number its title goes by in `title_search`."""
    id: Named[str] = Column(Text, unique=True)
    user_id: Named[str] = Column(Text, part_of("users.id"))
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
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    conversation_id: Named[str | None] = Column(Text, part_of("conversations.id"), index=True)
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
    conversation_id: Named[str] = Column(Text, part_of("conversations.id"))
    id: Named[str] = Column(Text, index=True)
    """Made by the client: one conversation's ids are nothing to another's."""
    parent_id: Named[str | None] = Column(Text)
    turn_id: Named[str] = Column(Text, part_of("turns.id"), index=True)
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
    message_position: Named[int] = Column(Integer, part_of("messages.position"), primary_key=True)
    rating: Named[Rating] = Column(Word[Rating]())
    reason: Named[Reason | None] = Column(Word[Reason | None]())
    text: Named[str] = Column(Text)
    created_at: Named[float]


feedback = Table("feedback", metadata, FeedbackColumns)


class ShareColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    """Whoever knows it may read what is shared."""
    conversation_id: Named[str] = Column(Text, part_of("conversations.id"))
    message_id: Named[str] = Column(Text)
    """The last message that is shown. What leads to it never changes."""
    title: Named[str] = Column(Text)
    created_at: Named[float]


shares = Table("shares", metadata, ShareColumns, UniqueConstraint("conversation_id", "message_id"))


class TurnEventColumns(TypedColumns):
    turn_id: Named[str] = Column(Text, part_of("turns.id"), primary_key=True)
    seq: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    at_ms: Named[float]
    data: Named[bytes] = Column(LargeBinary)


# Rows lie in the order they came, with the key beside them. Kept in the order of the key
# instead (WITHOUT ROWID), each turn of a group commit touches a page of its own: measured with
# 16 turns at once, that costs half as much again.
turn_events = Table("turn_events", metadata, TurnEventColumns)


class SendColumns(TypedColumns):
    user_id: Named[str] = Column(Text, part_of("users.id"), primary_key=True)
    key: Named[str] = Column(Text, primary_key=True)
    fingerprint: Named[str] = Column(Text)
    """Of what was asked for. The same key may not ask for something else."""
    turn_id: Named[str] = Column(Text, part_of("turns.id"), index=True)
    created_at: Named[float] = Column(Double, index=True)


sends = Table("sends", metadata, SendColumns)


class LedgerColumns(TypedColumns):
    """Outlives what it speaks of: who deletes a conversation has used its tokens nonetheless."""

    position: Named[int] = Column(Integer, primary_key=True)
    turn_id: Named[str] = Column(Text, unique=True)
    user_id: Named[str] = Column(Text, part_of("users.id"))
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


class MetaColumns(TypedColumns):
    key: Named[str] = Column(Text, primary_key=True)
    value: Named[bytes] = Column(LargeBinary)


meta = Table("meta", metadata, MetaColumns, sqlite_with_rowid=False)
