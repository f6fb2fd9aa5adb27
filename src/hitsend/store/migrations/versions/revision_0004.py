"""The client's address in the ledger, for token limits per address."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("ledger", sa.Column("address", sa.Text))
    op.create_index(
        "ix_ledger_address_at",
        "ledger",
        ["address", "at", "num_reserved_tokens", "num_input_tokens", "num_output_tokens"],
        sqlite_where=sa.text("address IS NOT NULL"),
    )
