"""Summaries of stretches of conversations. A stretch that two branches share is summed up once."""

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import insert, select

from hitsend.store.context_schema import summaries
from hitsend.store.conversations import is_here
from hitsend.store.database import Database
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

    async def list(self, conversation_id: str, user_id: str) -> Sequence[Summary]:
        """All of a conversation, of whichever branch."""
        theirs = SUMMARY.where(is_here(conversation_id, user_id)).order_by(summaries.c.created_at)
        async with self._database.read() as connection:
            return [Summary(*row) for row in await connection.execute(theirs)]

    async def add(self, conversation_id: str, user_id: str, model: str, summary: Summary) -> None:
        """Nothing where the conversation has gone meanwhile."""
        there = select(conversations.c.id).where(is_here(conversation_id, user_id))
        adding = insert(summaries).values(
            id=summary.id,
            conversation_id=conversation_id,
            first_message_id=summary.first_message_id,
            last_message_id=summary.last_message_id,
            level=summary.level,
            text=summary.text,
            model=model,
            created_at=self._database.now(),
        )
        async with self._database.write() as connection:
            if await connection.scalar(there) is not None:
                await connection.execute(adding)


def new_summary(first_message_id: str, last_message_id: str, level: int, text: str) -> Summary:
    return Summary(str(uuid4()), first_message_id, last_message_id, level, text)
