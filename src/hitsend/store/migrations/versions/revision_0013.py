"""Logs of finished turns are packed, each turn knows its size, and limits include storage.

The server packs and counts old turns little by little: those without `num_bytes` are due.
"""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE packed_events (
            turn_id TEXT NOT NULL,
            last_seq INTEGER NOT NULL,
            data BLOB NOT NULL,
            has_tokens BOOLEAN NOT NULL,
            finished_at DOUBLE NOT NULL,
            PRIMARY KEY (turn_id, last_seq),
            FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
        )
    """)
    op.execute("CREATE INDEX ix_packed_events_age ON packed_events (has_tokens, finished_at)")
    op.execute("ALTER TABLE turns ADD COLUMN num_bytes INTEGER")
    op.execute("DROP INDEX ix_turns_user_id")
    op.execute("CREATE INDEX ix_turns_user_id_num_bytes ON turns (user_id, num_bytes)")
    op.execute("DROP INDEX ix_turns_running")
    op.execute("CREATE INDEX ix_turns_unpacked ON turns (finished_at) WHERE num_bytes IS NULL")
    op.execute("ALTER TABLE limits ADD COLUMN storage_mb INTEGER")
