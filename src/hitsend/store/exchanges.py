"""Exchanges, that is questions with their answers: embeddings and the start of each text."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, Row, Select, and_, exists, select, true
from sqlalchemy.dialects.sqlite import insert

from hitsend.messages import Part, Text
from hitsend.store.change_log import ChangeLog
from hitsend.store.context_schema import exchanges
from hitsend.store.conversations import is_visible_to
from hitsend.store.database import Database, reads
from hitsend.store.rows import Exchange
from hitsend.store.schema import conversations, messages

NUM_QUESTION_CHARS, NUM_ANSWER_CHARS = 600, 600
"""A recalled exchange is cut to this, to leave room for others."""

question = messages.alias("question")

SELECT_EXCHANGE = (
    select(messages.c.id, question.c.parts, messages.c.parts)
    .join(conversations, conversations.c.id == messages.c.conversation_id)
    .join(
        question,
        and_(
            question.c.conversation_id == messages.c.conversation_id,
            question.c.id == messages.c.parent_id,
            question.c.role == "user",
        ),
    )
    .where(messages.c.role == "assistant", messages.c.status != "in_progress")
)


class Exchanges:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.changes = ChangeLog()
        """Changes of vectors, by conversation."""

    async def get(
        self, conversation_id: str, user_id: str, message_ids: Collection[str]
    ) -> Mapping[str, Exchange]:
        """Returns exchanges by answer id, without those that were deleted."""
        if not message_ids:
            return {}
        query = SELECT_EXCHANGE.where(
            is_visible_to(conversation_id, user_id), messages.c.id.in_(message_ids)
        )
        return {exchange.message_id: exchange for exchange in await self._read(query)}

    async def without_vectors(
        self, conversation_id: str, user_id: str, embedder: str, limit: int
    ) -> list[Exchange]:
        """Returns exchanges that have no vector of this embedder, newest first."""
        has_vector = exists().where(
            exchanges.c.conversation_id == conversation_id,
            exchanges.c.message_id == messages.c.id,
            exchanges.c.embedder == embedder,
        )
        query = (
            SELECT_EXCHANGE.where(is_visible_to(conversation_id, user_id), ~has_vector)
            .order_by(messages.c.position.desc())
            .limit(limit)
        )
        return await self._read(query)

    async def set_vectors(
        self, conversation_id: str, user_id: str, embedder: str, vectors: Mapping[str, bytes]
    ) -> None:
        """Stores vectors by answer id, unless the conversation was deleted meanwhile."""
        rows = [
            {
                "conversation_id": conversation_id,
                "message_id": message_id,
                "embedder": embedder,
                "vector": vector,
            }
            for message_id, vector in vectors.items()
        ]
        new = insert(exchanges)
        changed = {"embedder": new.excluded.embedder, "vector": new.excluded.vector}
        upsert = new.on_conflict_do_update(["conversation_id", "message_id"], set_=changed)
        conversation = select(conversations.c.id).where(is_visible_to(conversation_id, user_id))

        def write(connection: Connection) -> None:
            if rows and connection.scalar(conversation) is not None:
                connection.execute(upsert, rows)

        await self._database.write(write)
        self.changes.record(conversation_id, vectors)

    @reads
    def vectors(
        self,
        connection: Connection,
        conversation_id: str,
        user_id: str,
        embedder: str,
        message_ids: Collection[str] | None = None,
    ) -> tuple[Sequence[str], bytes]:
        """Returns answer ids, all or some, and their concatenated vectors."""
        query = (
            select(exchanges.c.message_id, exchanges.c.vector)
            .join(conversations, conversations.c.id == exchanges.c.conversation_id)
            .where(is_visible_to(conversation_id, user_id), exchanges.c.embedder == embedder)
            .where(true() if message_ids is None else exchanges.c.message_id.in_(message_ids))
        )
        rows = connection.execute(query).all()
        return [message_id for message_id, _ in rows], b"".join(vector for _, vector in rows)

    @reads
    def _read(
        self, connection: Connection, query: Select[str, tuple[Part, ...], tuple[Part, ...]]
    ) -> list[Exchange]:
        return [_exchange(row) for row in connection.execute(query)]


def _exchange(row: Row[str, tuple[Part, ...], tuple[Part, ...]]) -> Exchange:
    message_id, question_parts, answer_parts = row
    return Exchange(
        message_id,
        _cut(question_parts, NUM_QUESTION_CHARS),
        _cut(answer_parts, NUM_ANSWER_CHARS),
    )


def _cut(parts: Sequence[Part], num_chars: int) -> str:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return text if len(text) <= num_chars else text[:num_chars].rstrip() + "…"
