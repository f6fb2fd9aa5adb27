"""Idempotency keys of Sends, the token ledger, limits, groups and prices."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("ALTER TABLE turns ADD COLUMN epoch INTEGER DEFAULT 0 NOT NULL")
    _create_sends()
    _create_groups()
    _create_limits()
    _create_ledger()


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=nullable)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=False)


def _create_sends() -> None:
    op.create_table(
        "sends",
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE")),
        sa.Column("key", sa.Text),
        _text("fingerprint"),
        sa.Column(
            "turn_id", sa.Text, sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=False
        ),
        _time("created_at"),
        sa.PrimaryKeyConstraint("user_id", "key"),
    )
    op.create_index("ix_sends_turn_id", "sends", ["turn_id"])
    op.create_index("ix_sends_created_at", "sends", ["created_at"])


def _create_groups() -> None:
    op.create_table(
        "groups",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        _time("created_at"),
    )
    op.execute(
        "ALTER TABLE users ADD COLUMN group_id TEXT REFERENCES groups (id) ON DELETE SET NULL"
    )
    op.create_index("ix_users_group_id", "users", ["group_id"])


def _create_limits() -> None:
    op.create_table(
        "limits",
        sa.Column("scope", sa.Text),
        sa.Column("target", sa.Text),
        _number("requests_per_minute", nullable=True),
        _number("tokens_per_minute", nullable=True),
        _number("tokens_per_day", nullable=True),
        sa.PrimaryKeyConstraint("scope", "target"),
    )
    op.create_table(
        "prices",
        sa.Column("model", sa.Text, primary_key=True),
        sa.Column("input", sa.Double, nullable=False),
        sa.Column("cached", sa.Double, nullable=False),
        sa.Column("output", sa.Double, nullable=False),
    )


def _create_ledger() -> None:
    op.create_table(
        "ledger",
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("turn_id", sa.Text, nullable=False, unique=True),
        sa.Column(
            "user_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("group_id", sa.Text),
        sa.Column("key_id", sa.Text),
        _text("surface"),
        _text("model"),
        _time("at"),
        _number("num_reserved_tokens"),
        _number("num_input_tokens"),
        _number("num_cached_tokens"),
        _number("num_output_tokens"),
    )
    taken = ["num_reserved_tokens", "num_input_tokens", "num_output_tokens"]
    op.create_index("ix_ledger_user_id_at", "ledger", ["user_id", "at", *taken])
    op.create_index("ix_ledger_group_id_at", "ledger", ["group_id", "at", *taken])
    op.create_index("ix_ledger_key_id_at", "ledger", ["key_id", "at", *taken])
    op.create_index("ix_ledger_at", "ledger", ["at"])
    # Add the usage from before the ledger existed.
    op.execute(
        "INSERT INTO ledger (turn_id, user_id, surface, model, at, num_reserved_tokens, "
        "num_input_tokens, num_cached_tokens, num_output_tokens) "
        "SELECT id, user_id, surface, model, created_at, 0, num_input_tokens, num_cached_tokens, "
        "num_output_tokens FROM turns WHERE surface <> 'import' ORDER BY created_at"
    )
