"""API keys get scopes and an expiry.

Keys that exist keep what they could do: send, and read and change what is their owner's.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    scopes = sa.Column("scopes", sa.Text, nullable=False, server_default='["chat","read"]')
    op.add_column("api_keys", scopes)
    op.add_column("api_keys", sa.Column("expires_at", sa.Double))
