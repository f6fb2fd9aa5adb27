"""What people allow tools to do without asking again."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "tool_permissions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "user_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column(
            "conversation_id", sa.Text, sa.ForeignKey("conversations.id", ondelete="CASCADE")
        ),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("server", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_index(
        "ix_tool_permissions_fingerprint", "tool_permissions", ["user_id", "fingerprint"]
    )
    op.create_index("ix_tool_permissions_conversation_id", "tool_permissions", ["conversation_id"])
