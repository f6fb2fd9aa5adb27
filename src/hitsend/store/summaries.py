"""Summaries of ranges of messages. Branches that share a range share its summary."""

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import Connection, insert, select

from hitsend.store.context_schema import summaries
from hitsend.store.conversations import is_visible_to
from hitsend.store.database import Database, reads, writes
from hitsend.store.rows import Summary
from hitsend.store.schema import conversations

SUMMARY = select(
    summaries.c.id,
    summaries.c.first_message_id,
    summaries.c.last_message_id,
    summaries.c.level,
    summaries.c.text,
).join(conversations, conversations.c.id == summaries.c.conversation_id)


class Summaries:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def list(self, connection: Connection, conversation_id: str, user_id: str) -> Sequence[Summary]:
        """Returns the conversation's summaries, of all branches, oldest first."""
        query = SUMMARY.where(is_visible_to(conversation_id, user_id)).order_by(
            summaries.c.created_at
        )
        return [Summary(*row) for row in connection.execute(query)]

    @writes
    def add(
        self,
        connection: Connection,
        conversation_id: str,
        user_id: str,
        model: str,
        summary: Summary,
    ) -> None:
        """Does nothing if the conversation was deleted meanwhile."""
        exists = select(conversations.c.id).where(is_visible_to(conversation_id, user_id))
        row = insert(summaries).values(
            id=summary.id,
            conversation_id=conversation_id,
            first_message_id=summary.first_message_id,
            last_message_id=summary.last_message_id,
            level=summary.level,
            text=summary.text,
            model=model,
            created_at=self._database.now(),
        )
        if connection.scalar(exists) is not None:
            connection.execute(row)


def new_summary(first_message_id: str, last_message_id: str, level: int, text: str) -> Summary:
    return Summary(str(uuid4()), first_message_id, last_message_id, level, text)
