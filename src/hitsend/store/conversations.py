"""Conversations as trees of messages. Whose they are is part of every question."""

from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, delete, func, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import NotFound, Refused
from hitsend.store.database import Database
from hitsend.store.rows import Conversation, ConversationLine, Page, Running, StoredMessage
from hitsend.store.schema import conversations, messages
from hitsend.store.search import is_found, match_expression, snippets

LINE = (
    conversations.c.id,
    conversations.c.title,
    conversations.c.created_at,
    conversations.c.updated_at,
    conversations.c.is_archived,
)

MESSAGE = (
    messages.c.id.label("message_id"),
    messages.c.parent_id,
    messages.c.role,
    messages.c.parts,
    messages.c.status,
    messages.c.ending,
    messages.c.usage,
    messages.c.problem,
    messages.c.turn_id,
    messages.c.model,
    messages.c.created_at,
)


class Conversations:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self,
        user_id: str,
        *,
        offset: int = 0,
        limit: int = 28,
        query: str | None = None,
        is_archived: bool = False,
    ) -> Page:
        """The last changed first. A query looks through archived ones too."""
        theirs = and_(conversations.c.user_id == user_id, conversations.c.is_visible)
        match = None if query is None else match_expression(query)
        if query is None:
            wanted = and_(theirs, conversations.c.is_archived == is_archived)
        elif match is not None:
            wanted = and_(theirs, is_found(match))
        else:
            return Page((), 0)
        async with self._database.read() as connection:
            return await _page(connection, wanted, offset, limit, match)

    async def get(self, conversation_id: str, user_id: str) -> Conversation:
        line = select(*LINE, conversations.c.current_node, conversations.c.is_visible).where(
            is_theirs(conversation_id, user_id)
        )
        tree = select(*MESSAGE).where(messages.c.conversation_id == conversation_id)
        async with self._database.read() as connection:
            row = (await connection.execute(line)).one_or_none()
            if row is None:
                raise no_conversation()
            rows = await connection.execute(tree.order_by(messages.c.position))
        said = tuple(_stored(row) for row in rows)
        return Conversation(**row._mapping, messages=said, running=_running(said))

    async def path(
        self, conversation_id: str, user_id: str, leaf_id: str
    ) -> tuple[StoredMessage, ...]:
        """From the first message to this one."""
        async with self._database.read() as connection:
            rows = await connection.execute(_path(conversation_id, user_id, leaf_id))
        path = tuple(_stored(row) for row in rows)
        if not path:
            raise no_message()
        return path

    async def update(
        self,
        conversation_id: str,
        user_id: str,
        *,
        title: str | None = None,
        is_archived: bool | None = None,
        is_visible: bool | None = None,
        current_node: str | None = None,
    ) -> None:
        """Whatever is None stays as it is."""
        given = {
            conversations.c.title: title,
            conversations.c.is_renamed: None if title is None else True,
            conversations.c.is_archived: is_archived,
            conversations.c.is_visible: is_visible,
            conversations.c.current_node: current_node,
        }
        changes = {column: value for column, value in given.items() if value is not None}
        if not changes:
            raise Refused("Nothing was given to change.")
        changing = update(conversations).where(is_theirs(conversation_id, user_id))
        async with self._database.write() as connection:
            if (await connection.execute(changing.values(changes))).rowcount == 0:
                raise no_conversation()
            if current_node is not None:
                await _check_message(connection, conversation_id, current_node)

    async def delete(self, conversation_id: str, user_id: str) -> None:
        """With everything in it, also what a running turn has yet to say."""
        deleting = delete(conversations).where(is_theirs(conversation_id, user_id))
        async with self._database.write() as connection:
            if (await connection.execute(deleting)).rowcount == 0:
                raise no_conversation()


def is_theirs(conversation_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(conversations.c.id == conversation_id, conversations.c.user_id == user_id)


def no_conversation() -> NotFound:
    return NotFound("There is no such conversation.", param="conversation_id")


def no_message() -> NotFound:
    return NotFound("There is no such message in this conversation.", param="message_id")


async def _page(
    connection: AsyncConnection,
    wanted: ColumnElement[bool],
    offset: int,
    limit: int,
    match: str | None,
) -> Page:
    total = await connection.scalar(select(func.count()).select_from(conversations).where(wanted))
    newest_first = conversations.c.updated_at.desc(), conversations.c.position.desc()
    lines = select(*LINE).where(wanted).order_by(*newest_first).offset(offset).limit(limit)
    rows = (await connection.execute(lines)).all()
    found = await snippets(connection, match, [row.id for row in rows]) if match else {}
    return Page(tuple(ConversationLine(*row, found.get(row.id)) for row in rows), total or 0)


def _path(conversation_id: str, user_id: str, leaf_id: str) -> Select[*tuple[Any, ...]]:
    leaf = (
        select(messages.c.position, messages.c.parent_id, literal(0).label("depth"))
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(is_theirs(conversation_id, user_id), messages.c.id == leaf_id)
        .cte("path", recursive=True)
    )
    above = select(messages.c.position, messages.c.parent_id, leaf.c.depth + 1).join(
        leaf, messages.c.id == leaf.c.parent_id
    )
    path = leaf.union_all(above.where(messages.c.conversation_id == conversation_id))
    return (
        select(*MESSAGE)
        .join(path, path.c.position == messages.c.position)
        .order_by(path.c.depth.desc())
    )


async def _check_message(
    connection: AsyncConnection, conversation_id: str, message_id: str
) -> None:
    named = select(messages.c.position).where(
        messages.c.conversation_id == conversation_id, messages.c.id == message_id
    )
    if await connection.scalar(named) is None:
        raise no_message()


def _stored(row: Row[*tuple[Any, ...]]) -> StoredMessage:
    return StoredMessage(**row._mapping)


def _running(said: tuple[StoredMessage, ...]) -> Running | None:
    """The newest answer that is still being written."""
    writing = [message for message in said if message.status == "in_progress"]
    return Running(writing[-1].turn_id, writing[-1].message_id) if writing else None
