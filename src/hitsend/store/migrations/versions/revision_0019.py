"""MCP servers, their tools, calls, and who is signed in at them."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "mcp_servers",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("owner_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE")),
        sa.Column("audience", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("sealed", sa.LargeBinary),
        sa.Column("is_on", sa.Boolean, nullable=False),
        sa.Column("timeout_s", sa.Double, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("listed_at", sa.Double),
    )
    op.create_index("ix_mcp_servers_owner_id", "mcp_servers", ["owner_id"])
    op.create_table(
        "mcp_server_groups",
        _server_id(primary_key=True),
        sa.Column(
            "group_id",
            sa.Text,
            sa.ForeignKey("groups.id", ondelete="CASCADE"),
            primary_key=True,
            nullable=False,
        ),
    )
    op.create_table(
        "mcp_tools",
        _server_id(primary_key=True),
        sa.Column("name", sa.Text, primary_key=True, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("schema", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("is_on", sa.Boolean, nullable=False),
        sa.Column("is_missing", sa.Boolean, nullable=False),
        sa.Column("is_new", sa.Boolean, nullable=False),
        sa.Column("is_read_only", sa.Boolean, nullable=False),
        sa.Column("is_read_only_hint", sa.Boolean, nullable=False),
        sa.Column("draft", sa.Text),
    )
    op.create_table(
        "mcp_calls",
        sa.Column("id", sa.Integer, primary_key=True),
        _server_id(),
        _user_id(),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("took_ms", sa.Double, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("num_chars", sa.Integer, nullable=False),
    )
    op.create_index("ix_mcp_calls_user_id", "mcp_calls", ["user_id"])
    op.create_index("ix_mcp_calls_server_id", "mcp_calls", ["server_id", "id"])
    op.create_table(
        "mcp_tokens",
        _server_id(primary_key=True),
        _user_id(primary_key=True),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
    )
    op.create_index("ix_mcp_tokens_user_id", "mcp_tokens", ["user_id"])
    op.create_table(
        "mcp_sign_ins",
        sa.Column("state_hash", sa.Text, primary_key=True),
        _server_id(),
        _user_id(),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
    )
    op.create_index("ix_mcp_sign_ins_server_id", "mcp_sign_ins", ["server_id"])
    op.create_index("ix_mcp_sign_ins_user_id", "mcp_sign_ins", ["user_id"])
    op.create_table(
        "mcp_clients",
        _server_id(primary_key=True),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
    )


def _server_id(*, primary_key: bool = False) -> sa.Column[str]:
    owner = sa.ForeignKey("mcp_servers.id", ondelete="CASCADE")
    return sa.Column("server_id", sa.Text, owner, primary_key=primary_key, nullable=False)


def _user_id(*, primary_key: bool = False) -> sa.Column[str]:
    owner = sa.ForeignKey("users.id", ondelete="CASCADE")
    return sa.Column("user_id", sa.Text, owner, primary_key=primary_key, nullable=False)
