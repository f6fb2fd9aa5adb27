"""Full-text search over messages and titles.

Database triggers keep both FTS tables up to date (see migrations/).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Label,
    Text,
    bindparam,
    column,
    exists,
    func,
    literal_column,
    select,
    table,
)

from hitsend.store.rows import SearchHit
from hitsend.store.schema import conversations, messages

SNIPPET: Label[str] = literal_column(
    "snippet(message_search, 0, char(2), char(3), '…', 16)", Text
).label("snippet")

MAX_HITS = 2000

message_search = table("message_search", column("rowid"), column("text"))
title_search = table("title_search", column("rowid"), column("title"))


def match_expression(query: str) -> str | None:
    """Returns the FTS5 expression for all of these words, the last one as a prefix.

    Each word is quoted, so nothing in it is syntax. Returns None if there is no word.
    """
    words = query.replace("\0", " ").encode(errors="replace").decode().split()
    quoted = ['"' + word.replace('"', '""') + '"' for word in words if _has_letters(word)]
    return " ".join(quoted) + " *" if quoted else None


def match_any(stems: Collection[str]) -> str | None:
    """Returns the FTS5 expression for words that begin with any of these."""
    quoted = ['"' + stem.replace('"', '""') + '" *' for stem in stems if _has_letters(stem)]
    return " OR ".join(quoted) or None


def _has_letters(word: str) -> bool:
    return any(char.isalnum() for char in word)


class Hits(NamedTuple):
    """The newest matches of a search. A common word is in most messages, and nobody
    reads that far."""

    newest: Mapping[str, int]
    """By conversation, the position of its newest matching message."""
    titles: Sequence[str]
    """Conversations whose title matches."""

    @property
    def is_found(self) -> ColumnElement[bool]:
        """One JSON parameter: SQLAlchemy takes longer for thousands of parameters than the search
        itself."""
        ids = msgspec.json.encode([*self.newest, *self.titles]).decode()
        found = func.json_each(ids).table_valued("value")
        return conversations.c.id.in_(select(found.c.value))


def find_hits(connection: Connection, match: str, is_listed: ColumnElement[bool]) -> Hits:
    # Not a join: SQLite would start from all conversations of the person.
    in_listed = exists().where(conversations.c.id == messages.c.conversation_id, is_listed)
    found = connection.execute(
        select(messages.c.conversation_id, messages.c.position)
        .join(message_search, message_search.c.rowid == messages.c.position)
        .where(matches("message_search", match), in_listed)
        .order_by(message_search.c.rowid.desc())
        .limit(MAX_HITS)
    )
    titles = connection.scalars(
        select(conversations.c.id)
        .join(title_search, title_search.c.rowid == conversations.c.position)
        .where(matches("title_search", match), is_listed)
        .order_by(title_search.c.rowid.desc())
        .limit(MAX_HITS)
    )
    newest_first = [(conversation_id, position) for conversation_id, position in found]
    return Hits(dict(reversed(newest_first)), titles.all())


def read_snippets(
    connection: Connection, match: str, positions: Sequence[int]
) -> Mapping[str, SearchHit]:
    """Returns the snippets of these messages, by conversation."""
    # The plus keeps SQLite from searching once for each position.
    is_wanted = literal_column("+message_search.rowid", Integer).in_(positions)
    since = message_search.c.rowid >= min(positions, default=0)
    query = (
        select(messages.c.conversation_id, messages.c.id, SNIPPET)
        .join(message_search, message_search.c.rowid == messages.c.position)
        .where(matches("message_search", match), since, is_wanted)
    )
    return {
        row.conversation_id: SearchHit(row.id, row.snippet) for row in connection.execute(query)
    }


def matches(name: str, match: str) -> ColumnElement[bool]:
    return literal_column(name).op("MATCH")(bindparam(None, match))
