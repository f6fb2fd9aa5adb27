"""Messages of all conversations of a person, found by their words or compared by their meaning.

Temporary and deleted conversations are never among them.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    exists,
    func,
    literal_column,
    select,
    true,
    tuple_,
)

from hitsend.messages import Part
from hitsend.store.context_schema import exchanges
from hitsend.store.conversations import is_listed
from hitsend.store.database import Database, reads
from hitsend.store.exchanges import (
    Exchanges,
    cut_answer,
    cut_question,
)
from hitsend.store.prepared import as_list
from hitsend.store.recent_changes import RecentChanges
from hitsend.store.rows import PastMessage, PastPlace
from hitsend.store.schema import conversations, messages
from hitsend.store.search import match_any, match_expression, matches, message_search, title_search

NUM_SNIPPET_WORDS = 40
SNIPPET = literal_column(
    f"snippet(message_search, 0, '', '', '…', {NUM_SNIPPET_WORDS})", Text
).label("snippet")
NO_TEXT = literal_column("''", Text).label("snippet")
MAX_FOUND = 200
"""Messages with some of the words that are looked at, newest first."""

QUESTION = messages.alias("question")
IS_ASKED = and_(
    QUESTION.c.conversation_id == messages.c.conversation_id,
    QUESTION.c.id == messages.c.parent_id,
    QUESTION.c.role == "user",
)
IS_ANSWER = and_(messages.c.role == "assistant", messages.c.status != "in_progress")


class PastMessages:
    def __init__(self, database: Database, exchanges: Exchanges) -> None:
        self._database = database
        self._exchanges = exchanges

    @property
    def changes(self) -> RecentChanges:
        """Changes of vectors, by `owner_of_all`."""
        return self._exchanges.changes_of_all

    @reads
    def search_words(
        self,
        connection: Connection,
        user_id: str,
        words: str,
        stems: Collection[str],
        except_id: str,
    ) -> list[PastMessage]:
        """Returns messages with all of the words, then messages and titles with words that begin
        with any of the stems, newest first."""
        is_wanted = and_(is_listed(user_id), conversations.c.id != except_id)
        found: list[Any] = []
        if every := match_expression(words):
            found += connection.execute(_select_texts(every, is_wanted))
        if (some := match_any(stems)) and len(found) < MAX_FOUND:
            found += connection.execute(_select_texts(some, is_wanted))
        if some:
            found += connection.execute(_select_titles(some, is_wanted))
        unique = {(row.conversation_id, row.message_id): PastMessage(*row) for row in found}
        return list(unique.values())

    @reads
    def get(
        self, connection: Connection, user_id: str, places: Collection[PastPlace], except_id: str
    ) -> list[PastMessage]:
        """Returns answers with their questions."""
        at = tuple_(messages.c.conversation_id, messages.c.id)
        query = (
            select(*COLUMNS, QUESTION.c.parts, messages.c.parts)
            .join(conversations, conversations.c.id == messages.c.conversation_id)
            .join(QUESTION, IS_ASKED)
            .where(is_listed(user_id), conversations.c.id != except_id, IS_ANSWER)
            .where(at.in_([tuple(place) for place in places]))
        )
        return [
            PastMessage(
                row.conversation_id, row.message_id, row.title, row.created_at, _join(*row[-2:])
            )
            for row in connection.execute(query)
        ]

    @reads
    def vectors(
        self,
        connection: Connection,
        user_id: str,
        embedder: str,
        ids: Collection[str] | None = None,
    ) -> tuple[Sequence[str], bytes]:
        """Returns places as `conversation/message`, all or some, and their concatenated vectors."""
        place = exchanges.c.conversation_id + "/" + exchanges.c.message_id
        is_wanted: ColumnElement[bool] = true()
        if ids is not None:
            wanted = func.json_each(as_list(ids)).table_valued("value")
            is_wanted = place.in_(select(wanted.c.value))
        query = (
            select(place, exchanges.c.vector)
            .join(conversations, conversations.c.id == exchanges.c.conversation_id)
            .where(is_listed(user_id), exchanges.c.embedder == embedder, is_wanted)
        )
        rows = connection.execute(query).all()
        return [one for one, _ in rows], b"".join(vector for _, vector in rows)

    @reads
    def without_vectors(
        self, connection: Connection, user_id: str, embedder: str, limit: int
    ) -> dict[PastPlace, str]:
        """Returns the texts of the newest exchanges that have no vector of this embedder."""
        has_vector = exists().where(
            exchanges.c.conversation_id == messages.c.conversation_id,
            exchanges.c.message_id == messages.c.id,
            exchanges.c.embedder == embedder,
        )
        query = (
            select(messages.c.conversation_id, messages.c.id, QUESTION.c.parts, messages.c.parts)
            .join(conversations, conversations.c.id == messages.c.conversation_id)
            .join(QUESTION, IS_ASKED)
            .where(is_listed(user_id), IS_ANSWER, ~has_vector)
            .order_by(messages.c.position.desc())
            .limit(limit)
        )
        return {
            PastPlace(conversation_id, message_id): _join(question, answer)
            for conversation_id, message_id, question, answer in connection.execute(query)
        }

    async def set_vectors(
        self, user_id: str, embedder: str, vectors: dict[PastPlace, bytes]
    ) -> None:
        """Stores vectors, except where the conversation was deleted meanwhile."""
        by_conversation: dict[str, dict[str, bytes]] = {}
        for place, vector in vectors.items():
            by_conversation.setdefault(place.conversation_id, {})[place.message_id] = vector
        for conversation_id, of_it in by_conversation.items():
            await self._exchanges.set_vectors(conversation_id, user_id, embedder, of_it)


COLUMNS = (
    messages.c.conversation_id,
    messages.c.id.label("message_id"),
    conversations.c.title,
    messages.c.created_at,
)


def _join(question: Sequence[Part], answer: Sequence[Part]) -> str:
    return f"{cut_question(question)}\n{cut_answer(answer)}"


def _select_texts(match: str, is_wanted: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    # Not a join: SQLite would start from all conversations of the person.
    is_its_own = conversations.c.id == messages.c.conversation_id
    title = select(conversations.c.title).where(is_its_own).scalar_subquery().label("title")
    of_message = messages.c.conversation_id, messages.c.id.label("message_id")
    return (
        select(*of_message, title, messages.c.created_at, SNIPPET)
        .select_from(messages)
        .join(message_search, message_search.c.rowid == messages.c.position)
        .where(matches("message_search", match), exists().where(is_its_own, is_wanted))
        .order_by(message_search.c.rowid.desc())
        .limit(MAX_FOUND)
    )


def _select_titles(match: str, is_wanted: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            conversations.c.id.label("conversation_id"),
            literal_column("''", Text).label("message_id"),
            conversations.c.title,
            conversations.c.updated_at,
            NO_TEXT,
        )
        .join(title_search, title_search.c.rowid == conversations.c.position)
        .where(matches("title_search", match), is_wanted)
        .order_by(title_search.c.rowid.desc())
        .limit(MAX_FOUND)
    )
