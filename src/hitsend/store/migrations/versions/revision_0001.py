"""The tables of the first release."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_accounts()
    _create_conversations()
    _create_turn_events()
    for statement in SEARCH:
        op.execute(statement)


def _id() -> sa.Column[str]:
    return sa.Column("id", sa.Text, primary_key=True)


def _text(
    name: str, *, nullable: bool = False, unique: bool = False, index: bool = False
) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable, unique=unique, index=index)


def _time(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def _claim(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False)


def _of(name: str, owner: str, *, nullable: bool = False, index: bool = True) -> sa.Column[str]:
    owned = sa.ForeignKey(owner, ondelete="CASCADE")
    return sa.Column(name, sa.Text, owned, nullable=nullable, index=index)


def _create_accounts() -> None:
    op.create_table(
        "meta",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "users",
        _id(),
        _text("name"),
        _text("name_key", unique=True),
        _text("password_hash"),
        _text("role"),
        _time("created_at"),
        _time("disabled_at", nullable=True),
    )
    op.create_table(
        "sessions",
        _id(),
        _of("user_id", "users.id"),
        _text("token_hash", unique=True),
        _text("previous_token_hash", nullable=True, index=True),
        _time("rotated_at"),
        _time("arrived_at", nullable=True),
        _time("created_at"),
        _time("last_seen_at"),
        _time("expires_at"),
        _time("revoked_at", nullable=True),
        _text("user_agent"),
    )
    op.create_table(
        "api_keys",
        _id(),
        _of("user_id", "users.id"),
        _text("prefix"),
        _text("key_hash", unique=True),
        _text("label"),
        _time("created_at"),
        _time("last_used_at", nullable=True),
        _time("revoked_at", nullable=True),
    )
    user = sa.ForeignKey("users.id", ondelete="SET NULL")
    op.create_table(
        "invites",
        _id(),
        _text("token_hash", unique=True),
        _text("role"),
        _of("created_by", "users.id"),
        _time("created_at"),
        _time("expires_at"),
        sa.Column("used_by", sa.Text, user, index=True),
        _time("used_at", nullable=True),
        _time("revoked_at", nullable=True),
    )


def _create_conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("position", sa.Integer, primary_key=True),
        _text("id", unique=True),
        _of("user_id", "users.id", index=False),
        _text("title"),
        _claim("is_renamed"),
        _time("created_at"),
        _time("updated_at"),
        _text("current_node", nullable=True),
        _claim("is_archived"),
        _claim("is_visible"),
        sa.Index("ix_conversations_user_id_updated_at", "user_id", "updated_at"),
    )
    op.create_table(
        "turns",
        _id(),
        _of("user_id", "users.id"),
        _of("conversation_id", "conversations.id", nullable=True),
        _text("surface"),
        _text("action"),
        _text("model"),
        _text("answer_id"),
        _text("state"),
        _time("created_at"),
        _time("finished_at", nullable=True),
        _number("num_input_tokens"),
        _number("num_cached_tokens"),
        _number("num_output_tokens"),
        _text("given", nullable=True),
        sa.Index("ix_turns_running", "state", sqlite_where=sa.text("state = 'running'")),
    )
    op.create_table(
        "messages",
        sa.Column("position", sa.Integer, primary_key=True),
        _of("conversation_id", "conversations.id", index=False),
        _text("id", index=True),
        _text("parent_id", nullable=True),
        _of("turn_id", "turns.id"),
        _text("role"),
        _text("parts"),
        _text("status"),
        _text("ending", nullable=True),
        _text("model", nullable=True),
        _text("usage", nullable=True),
        _text("problem", nullable=True),
        _time("created_at"),
        sa.UniqueConstraint("conversation_id", "id"),
        sa.ForeignKeyConstraint(
            ["conversation_id", "parent_id"], ["messages.conversation_id", "messages.id"]
        ),
        sa.Index("ix_messages_parent", "conversation_id", "parent_id"),
    )


def _create_turn_events() -> None:
    op.create_table(
        "turn_events",
        sa.Column(
            "turn_id", sa.Text, sa.ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        _time("at_ms"),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )


WORDS = """
    INSERT INTO message_search (rowid, text)
    SELECT new.position, group_concat(json_extract(part.value, '$.text'), '')
    FROM json_each(new.parts) AS part
    WHERE json_extract(part.value, '$.kind') = 'text'
    HAVING count(*) > 0;
"""

SEARCH = (
    "CREATE VIRTUAL TABLE message_search USING fts5 "
    "(text, tokenize = 'unicode61 remove_diacritics 2')",
    "CREATE VIRTUAL TABLE title_search USING fts5 "
    "(title, tokenize = 'unicode61 remove_diacritics 2')",
    f"CREATE TRIGGER message_added AFTER INSERT ON messages BEGIN {WORDS} END",
    "CREATE TRIGGER message_changed AFTER UPDATE OF parts ON messages "
    "WHEN new.parts IS NOT old.parts BEGIN "
    f"DELETE FROM message_search WHERE rowid = old.position; {WORDS} END",
    "CREATE TRIGGER message_deleted AFTER DELETE ON messages BEGIN "
    "DELETE FROM message_search WHERE rowid = old.position; END",
    "CREATE TRIGGER conversation_added AFTER INSERT ON conversations BEGIN "
    "INSERT INTO title_search (rowid, title) VALUES (new.position, new.title); END",
    "CREATE TRIGGER conversation_renamed AFTER UPDATE OF title ON conversations "
    "WHEN new.title IS NOT old.title BEGIN "
    "UPDATE title_search SET title = new.title WHERE rowid = new.position; END",
    "CREATE TRIGGER conversation_deleted AFTER DELETE ON conversations BEGIN "
    "DELETE FROM title_search WHERE rowid = old.position; END",
)
