"""What the safety checks made of messages, the review queue, and policies.

Blocked messages are not indexed for search."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

INDEX = """
    INSERT INTO message_search (rowid, text)
    SELECT new.position, group_concat(json_extract(part.value, '$.text'), '')
    FROM json_each(new.parts) AS part
    WHERE json_extract(part.value, '$.kind') = 'text'
    HAVING count(*) > 0;
"""
IS_INDEXED = """json_extract(new.safety, '$.outcome') IS NOT 'block'
    AND (SELECT NOT is_temporary FROM conversations WHERE id = new.conversation_id)"""


def upgrade() -> None:
    op.add_column("messages", sa.Column("safety", sa.Text))
    op.execute("DROP TRIGGER message_added")
    op.execute("DROP TRIGGER message_changed")
    op.execute(
        f"CREATE TRIGGER message_added AFTER INSERT ON messages WHEN {IS_INDEXED} BEGIN {INDEX} END"
    )
    op.execute(
        "CREATE TRIGGER message_changed AFTER UPDATE OF parts ON messages "
        f"WHEN new.parts IS NOT old.parts AND {IS_INDEXED} "
        f"BEGIN DELETE FROM message_search WHERE rowid = old.position; {INDEX} END"
    )
    op.create_table(
        "screenings",
        sa.Column(
            "turn_id", sa.Text, sa.ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("stage", sa.Text, primary_key=True),
        sa.Column("message_id", sa.Text, primary_key=True),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("category", sa.Text),
        sa.Column("score", sa.Double),
        sa.Column("took_ms", sa.Double, nullable=False),
        sa.Column("is_complete", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("prompt_version", sa.Integer),
        sa.Column("created_at", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_screenings_created_at", "screenings", ["created_at"])
    op.create_table(
        "reviews",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "turn_id", sa.Text, sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("message_id", sa.Text, nullable=False),
        sa.Column(
            "user_id", sa.Text, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("screening", sa.Text),
        sa.Column("text_digest", sa.Text),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("appeal", sa.Text, nullable=False, server_default=""),
        sa.Column("appealed_at", sa.Double),
        sa.Column("decision", sa.Text),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("decided_by", sa.Text, sa.ForeignKey("users.id", ondelete="SET NULL")),
        sa.Column("decided_at", sa.Double),
    )
    op.create_index("ix_reviews_message", "reviews", ["turn_id", "message_id"], unique=True)
    op.create_index(
        "ix_reviews_open", "reviews", ["created_at"], sqlite_where=sa.text("decision IS NULL")
    )
    op.create_index("ix_reviews_user_id", "reviews", ["user_id", "text_digest"])
    op.create_index("ix_reviews_decided_by", "reviews", ["decided_by"])
    op.create_table(
        "safety_policies",
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False, server_default=sa.text("1")),
        sa.Column("changed_at", sa.Double, nullable=False),
    )
