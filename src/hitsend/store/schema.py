"""The tables of accounts, conversations, turns and usage. Times are Unix seconds.

Migrations create them, and a test compares the two. The full-text tables and their triggers exist
only in the migrations, see `search`. The tables of memories, summaries and prompts are in
`context_schema`, those of second factors in `second_factor_schema`, that
of tools in `tool_schema`, those of MCP servers in `mcp_schema`, and those of the safety layer in
`safety_schema`.
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
from hitsend.messages import Message, Part, Rating, Reason, Role, Seen, Usage
from hitsend.safety.policy import Screening
from hitsend.store.rows import AccountRole, KeyScope, LimitScope, Surface, TurnState
from hitsend.transcript import Status

HEAD = "0025"
"""The newest migration. A test compares it with migrations/."""

T = TypeVar("T")


class LiteralText(TypeDecorator[T], Generic[T]):
    """A `Literal` string. Only the type checker knows its values."""

    impl = Text
    cache_ok = True


class Json(TypeDecorator[T], Generic[T]):
    """A value of a known type as JSON text, which SQLite's JSON functions can read."""

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


def part_of(column: str) -> ForeignKey:
    """A reference to the owning row, whose deletion deletes this row."""
    return ForeignKey(column, ondelete="CASCADE")


class GroupColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    name: Named[str] = Column(Text, unique=True)
    created_at: Named[float]
    features: Named[tuple[str, ...] | None] = Column(Json[tuple[str, ...]](tuple[str, ...]))
    """Features of tools that its people may turn on. None: all."""


groups = Table("groups", metadata, GroupColumns)


class UserColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    name: Named[str] = Column(Text)
    name_key: Named[str] = Column(Text, unique=True)
    """The name in canonical form: names that look the same are the same."""
    password_hash: Named[str] = Column(Text)
    role: Named[AccountRole] = Column(LiteralText[AccountRole]())
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
    """When the browser first used its newest token. Until then the previous one is valid too."""
    created_at: Named[float]
    last_seen_at: Named[float]
    expires_at: Named[float]
    revoked_at: Named[float | None]
    user_agent: Named[str] = Column(Text)
    confirmed_at: Named[float | None]
    """When the password was given last, at sign-in or later."""
    needs_second_factor: Named[bool] = Column(Boolean, server_default=false())


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
    scopes: Named[tuple[KeyScope, ...]] = Column(
        Json[tuple[KeyScope, ...]](tuple[KeyScope, ...]), server_default='["chat","read"]'
    )
    """The default is for keys made before there were scopes: it is what those could do."""
    expires_at: Named[float | None]


api_keys = Table("api_keys", metadata, ApiKeyColumns)


class InviteColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    token_hash: Named[str] = Column(Text, unique=True)
    role: Named[AccountRole] = Column(LiteralText[AccountRole]())
    created_by: Named[str] = Column(Text, part_of("users.id"), index=True)
    created_at: Named[float]
    expires_at: Named[float]
    used_by: Named[str | None] = Column(
        Text, ForeignKey("users.id", ondelete="SET NULL"), index=True
    )
    used_at: Named[float | None]
    revoked_at: Named[float | None]


invites = Table("invites", metadata, InviteColumns)


class PasswordResetColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    token_hash: Named[str | None] = Column(Text, unique=True)
    """None where the command line set the password itself."""
    created_by: Named[str | None] = Column(
        Text, ForeignKey("users.id", ondelete="SET NULL"), index=True
    )
    made_by: Named[str] = Column(Text)
    """The administrator's name at the time, which stays when their account is deleted."""
    created_at: Named[float]
    expires_at: Named[float]
    used_at: Named[float | None]
    revoked_at: Named[float | None]
    seen_at: Named[float | None]
    """When the person said that they have read about it."""


password_resets = Table("password_resets", metadata, PasswordResetColumns)


class FolderColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    name: Named[str] = Column(Text)
    created_at: Named[float]


folders = Table("folders", metadata, FolderColumns)


class ConversationColumns(TypedColumns):
    position: Named[int] = Column(Integer, primary_key=True)
    """Also the rowid of its title in `title_search`."""
    id: Named[str] = Column(Text, unique=True)
    user_id: Named[str] = Column(Text, part_of("users.id"))
    title: Named[str] = Column(Text)
    is_renamed: Named[bool]
    """The person chose the title, so no model replaces it."""
    created_at: Named[float]
    updated_at: Named[float]
    current_node: Named[str | None] = Column(Text)
    is_archived: Named[bool]
    is_pinned: Named[bool] = Column(Boolean, server_default=false())
    folder_id: Named[str | None] = Column(
        Text, ForeignKey("folders.id", ondelete="SET NULL"), index=True
    )
    hidden_at: Named[float | None]
    """When it was deleted. It is invisible, and can be restored for a short time."""
    is_temporary: Named[bool] = Column(Boolean, server_default=false())
    """Not listed, without memory, and deleted after a day."""


conversations = Table("conversations", metadata, ConversationColumns)
# A covering index in the order of the list: counting reads no rows, and paging only those shown.
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
    user_id: Named[str] = Column(Text, part_of("users.id"))
    conversation_id: Named[str | None] = Column(Text, part_of("conversations.id"), index=True)
    surface: Named[Surface] = Column(LiteralText[Surface]())
    action: Named[Action] = Column(LiteralText[Action]())
    model: Named[str] = Column(Text)
    answer_id: Named[str] = Column(Text)
    state: Named[TurnState] = Column(LiteralText[TurnState]())
    created_at: Named[float]
    finished_at: Named[float | None]
    num_input_tokens: Named[int]
    num_cached_tokens: Named[int]
    num_output_tokens: Named[int]
    given: Named[tuple[Message, ...] | None] = Column(Json(tuple[Message, ...]))
    """The messages of an API call, which has no conversation."""
    epoch: Named[int] = Column(Integer, server_default=text("0"))
    """The server start that ran it."""
    num_bytes: Named[int | None]
    """The size of its messages and its log. None until the log is packed."""


turns = Table("turns", metadata, TurnColumns)
# What a person stores is the sum over this index, which reads no rows.
Index("ix_turns_user_id_num_bytes", turns.c.user_id, turns.c.num_bytes)
# Running turns, which have not finished, and those to pack.
Index("ix_turns_unpacked", turns.c.finished_at, sqlite_where=turns.c.num_bytes.is_(None))


class MessageColumns(TypedColumns):
    position: Named[int] = Column(Integer, primary_key=True)
    """The order of siblings, and the rowid of its text in `message_search`."""
    conversation_id: Named[str] = Column(Text, part_of("conversations.id"))
    id: Named[str] = Column(Text, index=True)
    """Chosen by the client, so it is unique only within a conversation."""
    parent_id: Named[str | None] = Column(Text)
    turn_id: Named[str] = Column(Text, part_of("turns.id"), index=True)
    role: Named[Role] = Column(LiteralText[Role]())
    parts: Named[tuple[Part, ...]] = Column(Json(tuple[Part, ...]))
    status: Named[Status] = Column(LiteralText[Status]())
    ending: Named[Ending | None] = Column(LiteralText[Ending | None]())
    model: Named[str | None] = Column(Text)
    usage: Named[Usage | None] = Column(Json(Usage))
    problem: Named[str | None] = Column(Text)
    created_at: Named[float]
    seen: Named[Seen | None] = Column(Json(Seen))
    """For an answer: the memories, summaries and exchanges the model was shown."""
    safety: Named[Screening | None] = Column(Json(Screening))
    """What the safety checks made of it, if there is something to say."""


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
    rating: Named[Rating] = Column(LiteralText[Rating]())
    reason: Named[Reason | None] = Column(LiteralText[Reason | None]())
    text: Named[str] = Column(Text)
    created_at: Named[float]


feedback = Table("feedback", metadata, FeedbackColumns)


class ShareColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    """Anyone who knows it may read the share."""
    conversation_id: Named[str] = Column(Text, part_of("conversations.id"))
    message_id: Named[str] = Column(Text)
    """The last message shown. The path to it never changes."""
    title: Named[str] = Column(Text)
    created_at: Named[float]


shares = Table("shares", metadata, ShareColumns, UniqueConstraint("conversation_id", "message_id"))


class TurnEventColumns(TypedColumns):
    turn_id: Named[str] = Column(Text, part_of("turns.id"), primary_key=True)
    seq: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    at_ms: Named[float]
    data: Named[bytes] = Column(LargeBinary)


# Rows are stored in order of insertion, with the key in an index. In key order (WITHOUT ROWID),
# each turn of a group commit would touch a page of its own: measured with 16 concurrent turns,
# that costs 50 % more.
turn_events = Table("turn_events", metadata, TurnEventColumns)


class PackedEventColumns(TypedColumns):
    """Events of finished turns, which are moved here from `turn_events`."""

    turn_id: Named[str] = Column(Text, part_of("turns.id"), primary_key=True)
    last_seq: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    data: Named[bytes] = Column(LargeBinary)
    """See `packed_log`."""
    has_tokens: Named[bool]
    finished_at: Named[float]
    """When its turn finished."""


packed_events = Table("packed_events", metadata, PackedEventColumns)
Index("ix_packed_events_age", packed_events.c.has_tokens, packed_events.c.finished_at)


class SendColumns(TypedColumns):
    user_id: Named[str] = Column(Text, part_of("users.id"), primary_key=True)
    key: Named[str] = Column(Text, primary_key=True)
    fingerprint: Named[str] = Column(Text)
    """A hash of the request. A key cannot be reused for a different request."""
    turn_id: Named[str] = Column(Text, part_of("turns.id"), index=True)
    created_at: Named[float] = Column(Double, index=True)


sends = Table("sends", metadata, SendColumns)


class LedgerColumns(TypedColumns):
    """Has no foreign key to its turn: deleting a conversation does not give its tokens back."""

    position: Named[int] = Column(Integer, primary_key=True)
    turn_id: Named[str] = Column(Text, unique=True)
    user_id: Named[str] = Column(Text, part_of("users.id"))
    group_id: Named[str | None] = Column(Text)
    """The person's group at the time."""
    key_id: Named[str | None] = Column(Text)
    surface: Named[Surface] = Column(LiteralText[Surface]())
    model: Named[str] = Column(Text)
    at: Named[float]
    num_reserved_tokens: Named[int]
    """The most the turn may use while it runs, then 0."""
    num_input_tokens: Named[int]
    num_cached_tokens: Named[int]
    num_output_tokens: Named[int]
    address: Named[str | None] = Column(Text)
    """The client's address, kept for a minute and only while addresses are limited."""


ledger = Table("ledger", metadata, LedgerColumns)
COUNTED_TOKENS = (
    ledger.c.num_reserved_tokens,
    ledger.c.num_input_tokens,
    ledger.c.num_output_tokens,
)
"""They count against a limit. Before each turn of a large group its whole day is summed: with these
columns in the index that reads no rows and takes an eighth of the time."""
Index("ix_ledger_user_id_at", ledger.c.user_id, ledger.c.at, *COUNTED_TOKENS)
Index("ix_ledger_group_id_at", ledger.c.group_id, ledger.c.at, *COUNTED_TOKENS)
Index("ix_ledger_key_id_at", ledger.c.key_id, ledger.c.at, *COUNTED_TOKENS)
Index("ix_ledger_at", ledger.c.at)
Index(
    "ix_ledger_address_at",
    ledger.c.address,
    ledger.c.at,
    *COUNTED_TOKENS,
    sqlite_where=ledger.c.address.is_not(None),
)


class LimitColumns(TypedColumns):
    scope: Named[LimitScope] = Column(LiteralText[LimitScope](), primary_key=True)
    target: Named[str] = Column(Text, primary_key=True)
    """The id of a person, group or key. Empty for everyone or every address."""
    requests_per_minute: Named[int | None]
    tokens_per_minute: Named[int | None]
    tokens_per_day: Named[int | None]
    storage_mb: Named[int | None]


limits = Table("limits", metadata, LimitColumns)


class PriceColumns(TypedColumns):
    """Prices of a million tokens."""

    model: Named[str] = Column(Text, primary_key=True)
    input: Named[float]
    cached: Named[float]
    output: Named[float]


prices = Table("prices", metadata, PriceColumns)


class MetaColumns(TypedColumns):
    key: Named[str] = Column(Text, primary_key=True)
    value: Named[bytes] = Column(LargeBinary)


meta = Table("meta", metadata, MetaColumns, sqlite_with_rowid=False)
