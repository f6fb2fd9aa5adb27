"""Folders, pins, feedback, shares, and deletion that can be undone."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _create_folders()
    _widen_conversations()
    _create_feedback()
    _create_shares()


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


def _of(name: str, owner: str, *, index: bool = False) -> sa.Column[str]:
    owned = sa.ForeignKey(owner, ondelete="CASCADE")
    return sa.Column(name, sa.Text, owned, nullable=False, index=index)


def _create_folders() -> None:
    op.create_table(
        "folders",
        sa.Column("id", sa.Text, primary_key=True),
        _of("user_id", "users.id", index=True),
        _text("name"),
        _time("created_at"),
    )


def _widen_conversations() -> None:
    # Hidden conversations used to be unlisted but kept. From now on hidden ones are erased after
    # a minute, so the old ones become archived.
    op.execute("UPDATE conversations SET is_archived = 1 WHERE NOT is_visible")
    op.drop_index("ix_conversations_user_id_updated_at")
    op.execute("ALTER TABLE conversations DROP COLUMN is_visible")
    op.execute("ALTER TABLE conversations ADD COLUMN is_pinned BOOLEAN DEFAULT 0 NOT NULL")
    op.execute(
        "ALTER TABLE conversations ADD COLUMN folder_id TEXT "
        "REFERENCES folders (id) ON DELETE SET NULL"
    )
    op.add_column("conversations", _time("hidden_at", nullable=True))
    op.create_index("ix_conversations_folder_id", "conversations", ["folder_id"])
    op.create_index(
        "ix_conversations_list",
        "conversations",
        [
            "user_id",
            "updated_at",
            "position",
            "is_archived",
            "is_pinned",
            "folder_id",
            "hidden_at",
        ],
    )
    op.create_index(
        "ix_conversations_hidden",
        "conversations",
        ["hidden_at"],
        sqlite_where=sa.text("hidden_at IS NOT NULL"),
    )


def _create_feedback() -> None:
    message = sa.ForeignKey("messages.position", ondelete="CASCADE")
    op.create_table(
        "feedback",
        sa.Column("message_position", sa.Integer, message, primary_key=True),
        _text("rating"),
        sa.Column("reason", sa.Text),
        _text("text"),
        _time("created_at"),
    )


def _create_shares() -> None:
    op.create_table(
        "shares",
        sa.Column("id", sa.Text, primary_key=True),
        _of("conversation_id", "conversations.id"),
        _text("message_id"),
        _text("title"),
        _time("created_at"),
        sa.UniqueConstraint("conversation_id", "message_id"),
    )
