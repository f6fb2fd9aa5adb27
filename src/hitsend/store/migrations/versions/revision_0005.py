"""Profiles, memories, summaries, exchange vectors, prompts, experiments and the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    _add_temporary()
    op.add_column("messages", sa.Column("seen", sa.Text))
    _create_profiles()
    _create_memories()
    _create_summaries()
    _create_prompts()
    _create_experiments()
    _create_audit()


def _add_temporary() -> None:
    """Adds `is_temporary` to the list index, because lists exclude temporary conversations."""
    op.execute("ALTER TABLE conversations ADD COLUMN is_temporary BOOLEAN DEFAULT 0 NOT NULL")
    op.drop_index("ix_conversations_list", "conversations")
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
            "is_temporary",
        ],
    )
    op.create_index(
        "ix_conversations_temporary",
        "conversations",
        ["updated_at"],
        sqlite_where=sa.text("is_temporary IS 1"),
    )


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=nullable)


def _switch(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


def _key(name: str = "id") -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=True)


def _of(name: str, column: str, *, is_key: bool = False) -> sa.Column[str]:
    """A reference to the owning row, whose deletion deletes this row."""
    its = sa.ForeignKey(column, ondelete="CASCADE")
    return sa.Column(name, sa.Text, its, primary_key=is_key, nullable=False)


def _once_of(name: str, column: str) -> sa.Column[str]:
    """A reference that becomes NULL when the other row is deleted."""
    return sa.Column(name, sa.Text, sa.ForeignKey(column, ondelete="SET NULL"))


def _create_profiles() -> None:
    op.create_table(
        "profiles",
        _of("user_id", "users.id", is_key=True),
        _text("call_me"),
        _text("about_me"),
        _text("style"),
        _switch("is_on"),
        _switch("uses_memory"),
        _switch("suggests_memories"),
        _time("updated_at"),
    )


def _create_memories() -> None:
    op.create_table(
        "memories",
        _key(),
        _of("user_id", "users.id"),
        _text("text"),
        _text("folded"),
        _text("origin"),
        _once_of("conversation_id", "conversations.id"),
        _switch("is_suggested"),
        _time("removed_at", nullable=True),
        _time("created_at"),
        _time("updated_at"),
        _text("embedder", nullable=True),
        sa.Column("vector", sa.LargeBinary),
    )
    op.create_index("ix_memories_user_id", "memories", ["user_id"])
    op.create_index("ix_memories_conversation_id", "memories", ["conversation_id"])
    op.create_index(
        "ix_memories_removed_at",
        "memories",
        ["removed_at"],
        sqlite_where=sa.text("removed_at IS NOT NULL"),
    )


def _create_summaries() -> None:
    op.create_table(
        "summaries",
        _key(),
        _of("conversation_id", "conversations.id"),
        _text("first_message_id"),
        _text("last_message_id"),
        _number("level"),
        _text("text"),
        _text("model"),
        _time("created_at"),
    )
    op.create_index("ix_summaries_conversation_id", "summaries", ["conversation_id"])
    op.create_table(
        "exchanges",
        _of("conversation_id", "conversations.id", is_key=True),
        _key("message_id"),
        _text("embedder"),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )


def _create_prompts() -> None:
    op.create_table(
        "prompt_versions",
        _key("name"),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        _text("template"),
        _text("note"),
        _once_of("created_by", "users.id"),
        _time("created_at"),
    )
    op.create_table(
        "prompt_choices",
        _key("name"),
        _number("version", nullable=True),
        _text("sampling", nullable=True),
        _time("chosen_at"),
    )


def _create_experiments() -> None:
    op.create_table(
        "experiments",
        _key(),
        _text("prompt"),
        _text("versions"),
        _time("started_at"),
        _time("ended_at", nullable=True),
        _number("winner", nullable=True),
    )
    op.create_index(
        "ix_experiments_running",
        "experiments",
        ["prompt"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "trials",
        _of("turn_id", "turns.id", is_key=True),
        _of("experiment_id", "experiments.id", is_key=True),
        _number("version"),
    )
    op.create_index("ix_trials_experiment_id", "trials", ["experiment_id"])


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("position", sa.Integer, primary_key=True),
        _time("at"),
        _once_of("user_id", "users.id"),
        _text("action"),
        _text("subject"),
        _text("detail"),
    )
    op.create_index("ix_audit_user_id", "audit", ["user_id"])
