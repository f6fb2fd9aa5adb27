"""Full text search over what was said and over titles.

Triggers of the database keep both tables in step with what they index (see migrations/).
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import (
    ColumnElement,
    Label,
    Select,
    Text,
    bindparam,
    column,
    func,
    literal_column,
    or_,
    select,
    table,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.store.rows import Found
from hitsend.store.schema import conversations, messages

SNIPPET: Label[str] = literal_column(
    "snippet(message_search, 0, char(2), char(3), '…', 16)", Text
).label("snippet")

message_search = table("message_search", column("rowid"), column("text"))
title_search = table("title_search", column("rowid"), column("title"))


def match_expression(query: str) -> str | None:
    """FTS5's question for "all of these words, the last perhaps not typed to its end".

    Each word is quoted, so nothing in it is syntax. None where there is no word to look for.
    """
    words = query.replace("\0", " ").encode(errors="replace").decode().split()
    quoted = ['"' + word.replace('"', '""') + '"' for word in words if _has_letters(word)]
    return " ".join(quoted) + " *" if quoted else None


def _has_letters(word: str) -> bool:
    return any(char.isalnum() for char in word)


def is_found(match: str) -> ColumnElement[bool]:
    """True of the conversations in whose title or messages the words stand."""
    titled = select(title_search.c.rowid).where(_matches("title_search", match))
    return or_(conversations.c.id.in_(_hits(match)), conversations.c.position.in_(titled))


async def snippets(
    connection: AsyncConnection, match: str, conversation_ids: Sequence[str]
) -> Mapping[str, Found]:
    """For each conversation its newest message that has the words, around the words."""
    newest = (
        _hits(match)
        .with_only_columns(func.max(messages.c.position))
        .where(messages.c.conversation_id.in_(conversation_ids))
        .group_by(messages.c.conversation_id)
    )
    shown = _hits(match).where(message_search.c.rowid.in_(newest))
    rows = await connection.execute(shown.add_columns(messages.c.id, SNIPPET))
    return {row.conversation_id: Found(row.id, row.snippet) for row in rows}


def _hits(match: str) -> Select[str]:
    return (
        select(messages.c.conversation_id)
        .join(message_search, message_search.c.rowid == messages.c.position)
        .where(_matches("message_search", match))
    )


def _matches(name: str, match: str) -> ColumnElement[bool]:
    return literal_column(name).op("MATCH")(bindparam(None, match))
