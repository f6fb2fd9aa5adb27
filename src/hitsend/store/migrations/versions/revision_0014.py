"""Links with which people choose a new password, made by an administrator."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "password_resets",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "user_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("token_hash", sa.Text, unique=True),
        sa.Column("created_by", sa.Text, sa.ForeignKey("users.id", ondelete="SET NULL")),
        sa.Column("made_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.Column("used_at", sa.Double),
        sa.Column("revoked_at", sa.Double),
        sa.Column("seen_at", sa.Double),
    )
    op.create_index("ix_password_resets_user_id", "password_resets", ["user_id"])
    op.create_index("ix_password_resets_created_by", "password_resets", ["created_by"])
