"""Which features of tools the people of a group may turn on."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("groups", sa.Column("features", sa.Text))
