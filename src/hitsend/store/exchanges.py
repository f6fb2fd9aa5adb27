"""Questions with their answers: what they are about, as an embedder sees it, and how they began.

Whose conversation it is, is part of every question.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Row, Select, and_, exists, select, true
from sqlalchemy.dialects.sqlite import insert

from hitsend.messages import Part, Text
from hitsend.store.changes import Changes
from hitsend.store.context_schema import exchanges
from hitsend.store.conversations import is_here
from hitsend.store.database import Database
from hitsend.store.rows import Exchange
from hitsend.store.schema import conversations, messages

NUM_QUESTION_CHARS, NUM_ANSWER_CHARS = 600, 600
"""More of an old exchange would leave no room for others."""

question = messages.alias("question")

EXCHANGE = (
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
        self.changes = Changes()
        """Of what was learned of a conversation."""

    async def get(
        self, conversation_id: str, user_id: str, message_ids: Collection[str]
    ) -> Mapping[str, Exchange]:
        """By answer. What is not there any more is left out."""
        if not message_ids:
            return {}
        asked = EXCHANGE.where(is_here(conversation_id, user_id), messages.c.id.in_(message_ids))
        return {one.message_id: one for one in await self._read(asked)}

    async def unlearned(
        self, conversation_id: str, user_id: str, embedder: str, most: int
    ) -> list[Exchange]:
        """Those that this embedder has not seen yet, the newest first."""
        has_vector = exists().where(
            exchanges.c.conversation_id == conversation_id,
            exchanges.c.message_id == messages.c.id,
            exchanges.c.embedder == embedder,
        )
        left = (
            EXCHANGE.where(is_here(conversation_id, user_id), ~has_vector)
            .order_by(messages.c.position.desc())
            .limit(most)
        )
        return await self._read(left)

    async def learn(
        self, conversation_id: str, user_id: str, embedder: str, vectors: Mapping[str, bytes]
    ) -> None:
        """Vectors by answer. Nothing where the conversation has gone meanwhile."""
        rows = [
            {
                "conversation_id": conversation_id,
                "message_id": message_id,
                "embedder": embedder,
                "vector": vector,
            }
            for message_id, vector in vectors.items()
        ]
        learned = insert(exchanges)
        changed = {"embedder": learned.excluded.embedder, "vector": learned.excluded.vector}
        adding = learned.on_conflict_do_update(["conversation_id", "message_id"], set_=changed)
        there = select(conversations.c.id).where(is_here(conversation_id, user_id))
        async with self._database.write() as connection:
            if rows and await connection.scalar(there) is not None:
                await connection.execute(adding, rows)
        self.changes.note(conversation_id, vectors)

    async def vectors(
        self,
        conversation_id: str,
        user_id: str,
        embedder: str,
        message_ids: Collection[str] | None = None,
    ) -> tuple[Sequence[str], bytes]:
        """Answers, all or some, and their vectors one after another."""
        known = (
            select(exchanges.c.message_id, exchanges.c.vector)
            .join(conversations, conversations.c.id == exchanges.c.conversation_id)
            .where(is_here(conversation_id, user_id), exchanges.c.embedder == embedder)
            .where(true() if message_ids is None else exchanges.c.message_id.in_(message_ids))
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(known)).all()
        return [message_id for message_id, _ in rows], b"".join(vector for _, vector in rows)

    async def _read(self, query: Select[str, tuple[Part, ...], tuple[Part, ...]]) -> list[Exchange]:
        async with self._database.read() as connection:
            return [_exchange(row) for row in await connection.execute(query)]


def _exchange(row: Row[str, tuple[Part, ...], tuple[Part, ...]]) -> Exchange:
    message_id, asked, answered = row
    return Exchange(message_id, _cut(asked, NUM_QUESTION_CHARS), _cut(answered, NUM_ANSWER_CHARS))


def _cut(parts: Sequence[Part], num_chars: int) -> str:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return text if len(text) <= num_chars else text[:num_chars].rstrip() + "…"
