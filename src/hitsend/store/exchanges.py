"""Exchanges, that is questions with their answers: embeddings and the start of each text."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, exists, select, true
from sqlalchemy.dialects.sqlite import insert

from hitsend.messages import Part, Text
from hitsend.store.context_schema import exchanges
from hitsend.store.conversations import FIND_VISIBLE, IS_VISIBLE, is_visible_to
from hitsend.store.database import Database, reads
from hitsend.store.prepared import Prepared, as_list, is_one_of
from hitsend.store.recent_changes import RecentChanges
from hitsend.store.rows import Exchange
from hitsend.store.schema import conversations, messages

NUM_QUESTION_CHARS, NUM_ANSWER_CHARS = 600, 600
"""A recalled exchange is cut to this, to leave room for others."""


def _select_exchanges() -> Select[*tuple[Any, ...]]:
    """Selects finished exchanges by the ids of their answers, oldest first."""
    question = messages.alias("question")
    is_asked = and_(
        question.c.conversation_id == messages.c.conversation_id,
        question.c.id == messages.c.parent_id,
        question.c.role == "user",
    )
    return (
        select(messages.c.id, question.c.parts, messages.c.parts)
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .join(question, is_asked)
        .where(IS_VISIBLE, is_one_of(messages.c.id, "message_ids"))
        .where(messages.c.role == "assistant", messages.c.status != "in_progress")
        .where(messages.c.ending.is_distinct_from("blocked"))
        .order_by(messages.c.position)
    )


HAS_VECTOR = exists().where(
    exchanges.c.conversation_id == messages.c.conversation_id,
    exchanges.c.message_id == messages.c.id,
    exchanges.c.embedder == bindparam("embedder"),
)
GET = Prepared(_select_exchanges())
WITHOUT_VECTORS = Prepared(_select_exchanges().where(~HAS_VECTOR).limit(bindparam("limit")))

NEW = insert(exchanges)
PUT_VECTOR = Prepared(
    NEW.on_conflict_do_update(
        ["conversation_id", "message_id"],
        set_={"embedder": NEW.excluded.embedder, "vector": NEW.excluded.vector},
    ),
    *("conversation_id", "message_id", "embedder", "vector"),
)


class Exchanges:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.changes = RecentChanges()
        """Changes of vectors, by conversation."""
        self.changes_of_all = RecentChanges()
        """The same, by `owner_of_all`. The ids are `conversation/message`."""

    async def get(
        self, conversation_id: str, user_id: str, message_ids: Collection[str]
    ) -> Mapping[str, Exchange]:
        """Returns exchanges by answer id, without those that were deleted."""
        if not message_ids:
            return {}
        found = await self._read(GET, conversation_id, user_id, message_ids)
        return {exchange.message_id: exchange for exchange in found}

    async def without_vectors(
        self,
        conversation_id: str,
        user_id: str,
        embedder: str,
        message_ids: Collection[str],
        limit: int,
    ) -> list[Exchange]:
        """Returns those whose answers are among the messages and have no vector of this embedder,
        oldest first."""
        return await self._read(
            WITHOUT_VECTORS, conversation_id, user_id, message_ids, embedder=embedder, limit=limit
        )

    async def set_vectors(
        self, conversation_id: str, user_id: str, embedder: str, vectors: Mapping[str, bytes]
    ) -> None:
        """Stores vectors by answer id, unless the conversation was deleted meanwhile."""
        place = {"conversation_id": conversation_id, "user_id": user_id}
        rows = [
            {
                "conversation_id": conversation_id,
                "message_id": message_id,
                "embedder": embedder,
                "vector": vector,
            }
            for message_id, vector in vectors.items()
        ]

        def write(connection: Connection) -> None:
            if FIND_VISIBLE.first(connection, **place) is not None:
                PUT_VECTOR.run_many(connection, rows)

        await self._database.write(write)
        self.changes.record(conversation_id, vectors)
        places = (f"{conversation_id}/{message_id}" for message_id in vectors)
        self.changes_of_all.record(owner_of_all(user_id), places)

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
        self,
        connection: Connection,
        /,
        query: Prepared,
        conversation_id: str,
        user_id: str,
        message_ids: Collection[str],
        **values: object,
    ) -> list[Exchange]:
        place = {"conversation_id": conversation_id, "user_id": user_id}
        rows = query.rows(connection, **place, message_ids=as_list(message_ids), **values)
        return [_exchange(*row) for row in rows]


def _exchange(
    message_id: str, question_parts: Sequence[Part], answer_parts: Sequence[Part]
) -> Exchange:
    return Exchange(
        message_id,
        cut_question(question_parts),
        cut_answer(answer_parts),
    )


def owner_of_all(user_id: str) -> str:
    """The owner of the vectors of all conversations of a person. Differs from every id."""
    return f"all of {user_id}"


def cut_question(parts: Sequence[Part]) -> str:
    return _cut(parts, NUM_QUESTION_CHARS)


def cut_answer(parts: Sequence[Part]) -> str:
    return _cut(parts, NUM_ANSWER_CHARS)


def _cut(parts: Sequence[Part], num_chars: int) -> str:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return text if len(text) <= num_chars else text[:num_chars].rstrip() + "…"
