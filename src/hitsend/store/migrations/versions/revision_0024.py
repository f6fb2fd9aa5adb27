"""Files that tools made, such as plots."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "tool_files",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "user_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column(
            "conversation_id",
            sa.Text,
            sa.ForeignKey("conversations.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("num_bytes", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_index("ix_tool_files_user_id", "tool_files", ["user_id"])
    op.create_index("ix_tool_files_conversation_id", "tool_files", ["conversation_id"])
