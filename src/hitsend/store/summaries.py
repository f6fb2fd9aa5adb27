"""Summaries of ranges of messages. Branches that share a range share its summary."""

from collections.abc import Sequence
from uuid import uuid4

from cachetools import LRUCache
from sqlalchemy import Connection, Integer, bindparam, insert, literal_column, select

from hitsend.store.context_schema import summaries
from hitsend.store.conversations import FIND_VISIBLE, IS_VISIBLE
from hitsend.store.database import Database, reads, writes
from hitsend.store.prepared import Prepared
from hitsend.store.rows import Summary
from hitsend.store.schema import conversations

MAX_CACHED_CHARS = 4_000_000

POSITION = literal_column("summaries.rowid", Integer)
"""The order in which they were written."""
FIND_NEWER = Prepared(
    select(
        POSITION,
        summaries.c.id,
        summaries.c.first_message_id,
        summaries.c.last_message_id,
        summaries.c.level,
        summaries.c.text,
    )
    .select_from(conversations)
    .outerjoin(
        summaries,
        (summaries.c.conversation_id == conversations.c.id) & (bindparam("known") < POSITION),
    )
    .where(IS_VISIBLE)
    .order_by(POSITION)
)
"""Has a row without a summary if there is none, and no row if there is no such conversation."""
ADD = Prepared(insert(summaries), *summaries.c.keys())


class Summaries:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = LRUCache[str, tuple[int, Sequence[Summary]]](MAX_CACHED_CHARS, _cache_size)
        """By conversation, its summaries and the position of the last one."""

    async def list(self, conversation_id: str, user_id: str) -> Sequence[Summary]:
        """Returns the conversation's summaries, of all branches, oldest first. They never change,
        so only new ones are read."""
        last, known = self._known.get(conversation_id, (0, ()))
        newer = await self._find_newer(conversation_id, user_id, last)
        if newer is None:
            self._known.pop(conversation_id, None)
            return ()
        if newer:
            last, known = newer[-1][0], (*known, *(summary for _, summary in newer))
            self._known[conversation_id] = last, known
        return known

    @reads
    def _find_newer(
        self, connection: Connection, conversation_id: str, user_id: str, known: int
    ) -> Sequence[tuple[int, Summary]] | None:
        """Returns None if there is no such conversation."""
        place = {"conversation_id": conversation_id, "user_id": user_id}
        rows = FIND_NEWER.rows(connection, **place, known=known)
        if not rows:
            return None
        return [(position, Summary(*row)) for position, *row in rows if position is not None]

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
        place = {"conversation_id": conversation_id, "user_id": user_id}
        if FIND_VISIBLE.first(connection, **place) is None:
            return
        ADD.run(
            connection,
            id=summary.id,
            conversation_id=conversation_id,
            first_message_id=summary.first_message_id,
            last_message_id=summary.last_message_id,
            level=summary.level,
            text=summary.text,
            model=model,
            created_at=self._database.now(),
        )


def new_summary(first_message_id: str, last_message_id: str, level: int, text: str) -> Summary:
    return Summary(str(uuid4()), first_message_id, last_message_id, level, text)


def _cache_size(known: tuple[int, Sequence[Summary]]) -> int:
    num_chars = sum(len(summary.text) for summary in known[1])
    return min(num_chars, MAX_CACHED_CHARS)  # longer ones take the whole cache
