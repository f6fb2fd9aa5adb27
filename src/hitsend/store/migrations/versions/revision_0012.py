"""Second factors: authenticator apps, passkeys and recovery codes.

Sessions tell when their password was given last, and whether they have to set up a second factor.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "authenticators",
        sa.Column("user_id", sa.Text, _owner(), primary_key=True),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("last_counter", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("last_used_at", sa.Double),
    )
    op.create_table(
        "passkeys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, _owner(), nullable=False),
        sa.Column("credential_id", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("public_key", sa.LargeBinary, nullable=False),
        sa.Column("sign_count", sa.Integer, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("last_used_at", sa.Double),
    )
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.Text, _owner(), primary_key=True),
        sa.Column("code_hash", sa.Text, primary_key=True),
    )
    op.add_column("sessions", sa.Column("confirmed_at", sa.Double))
    op.add_column(
        "sessions",
        sa.Column("needs_second_factor", sa.Boolean, nullable=False, server_default=sa.false()),
    )


def _owner() -> sa.ForeignKey:
    return sa.ForeignKey("users.id", ondelete="CASCADE")
