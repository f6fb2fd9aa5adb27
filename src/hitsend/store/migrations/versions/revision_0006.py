"""Erased words leave the search index too.

Temporary chats are not indexed, and a flag in `meta` says that the index has to be merged.
"""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for name in REPLACED:
        op.execute(f"DROP TRIGGER {name}")
    for statement in TRIGGERS:
        op.execute(statement)
    op.execute(
        "DELETE FROM message_search WHERE rowid IN "
        "(SELECT messages.position FROM messages JOIN conversations "
        "ON conversations.id = messages.conversation_id WHERE conversations.is_temporary)"
    )
    op.execute(
        "DELETE FROM title_search WHERE rowid IN "
        "(SELECT position FROM conversations WHERE is_temporary)"
    )
    op.execute(MARK)  # words erased before this migration are still in the index


MARK = "INSERT OR REPLACE INTO meta (key, value) VALUES ('search_has_erased', randomblob(16));"

WORDS = """
    INSERT INTO message_search (rowid, text)
    SELECT new.position, group_concat(json_extract(part.value, '$.text'), '')
    FROM json_each(new.parts) AS part
    WHERE json_extract(part.value, '$.kind') = 'text'
    HAVING count(*) > 0;
"""

IS_LASTING = "(SELECT NOT is_temporary FROM conversations WHERE id = new.conversation_id)"

REPLACED = "message_added", "message_changed", "conversation_added", "conversation_deleted"

TRIGGERS = (
    f"CREATE TRIGGER message_added AFTER INSERT ON messages WHEN {IS_LASTING} BEGIN {WORDS} END",
    "CREATE TRIGGER message_changed AFTER UPDATE OF parts ON messages "
    f"WHEN new.parts IS NOT old.parts AND {IS_LASTING} BEGIN "
    f"DELETE FROM message_search WHERE rowid = old.position; {WORDS} END",
    "CREATE TRIGGER conversation_added AFTER INSERT ON conversations WHEN NOT new.is_temporary "
    "BEGIN INSERT INTO title_search (rowid, title) VALUES (new.position, new.title); END",
    "CREATE TRIGGER conversation_deleted AFTER DELETE ON conversations WHEN NOT old.is_temporary "
    f"BEGIN DELETE FROM title_search WHERE rowid = old.position; {MARK} END",
)
