"""The messages of a conversation: the whole tree, or one path through it. Whose conversation it
is, is asked by the caller."""

import asyncio
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Row,
    Select,
    Text,
    bindparam,
    case,
    func,
    literal,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.messages import Feedback
from hitsend.store.rows import StoredMessage
from hitsend.store.schema import conversations, feedback, messages, turns

MESSAGE = (
    select(
        messages.c.id.label("message_id"),
        messages.c.parent_id,
        messages.c.role,
        messages.c.parts,
        messages.c.status,
        messages.c.ending,
        messages.c.usage,
        messages.c.problem,
        messages.c.seen,
        messages.c.turn_id,
        messages.c.model,
        messages.c.created_at,
        (turns.c.surface == "import").label("is_imported"),
        feedback.c.rating,
        feedback.c.reason,
        feedback.c.text,
    )
    .join(turns, turns.c.id == messages.c.turn_id)
    .outerjoin(feedback, feedback.c.message_position == messages.c.position)
)


def whole_tree(conversation_id: str) -> Select[*tuple[Any, ...]]:
    """Every message, siblings in the order they were said."""
    return MESSAGE.where(messages.c.conversation_id == conversation_id).order_by(
        messages.c.position
    )


def path_to(leaf_id: str, conversation: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """From the first message of the conversation to this one."""
    leaf = (
        select(
            messages.c.position,
            messages.c.conversation_id,
            messages.c.parent_id,
            literal(0).label("depth"),
        )
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(conversation, messages.c.id == leaf_id)
        .cte("path", recursive=True)
    )
    above = select(
        messages.c.position, messages.c.conversation_id, messages.c.parent_id, leaf.c.depth + 1
    ).where(messages.c.id == leaf.c.parent_id, messages.c.conversation_id == leaf.c.conversation_id)
    path = leaf.union_all(above)
    return MESSAGE.join(path, path.c.position == messages.c.position).order_by(path.c.depth.desc())


def end_of_path(conversation: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """The path to `leaf_id`, no further back than a `Reach`: made once, as every turn asks it."""
    start = func.coalesce(bindparam("since", type_=Text), _start_seen_by(bindparam("model")))
    leaf = (
        select(
            messages.c.position,
            messages.c.conversation_id,
            messages.c.id,
            messages.c.parent_id,
            literal(0).label("depth"),
            func.length(messages.c.parts).label("num_chars"),
            start.label("start"),
        )
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(conversation, messages.c.id == bindparam("leaf_id"))
        .cte("path", recursive=True)
    )
    above = select(
        messages.c.position,
        messages.c.conversation_id,
        messages.c.id,
        messages.c.parent_id,
        leaf.c.depth + 1,
        leaf.c.num_chars + func.length(messages.c.parts),
        func.coalesce(leaf.c.start, start),
    ).where(
        messages.c.id == leaf.c.parent_id,
        messages.c.conversation_id == leaf.c.conversation_id,
        func.coalesce(leaf.c.start, "") != leaf.c.id,
        leaf.c.num_chars < bindparam("num_chars"),
    )
    path = leaf.union_all(above)
    return MESSAGE.join(path, path.c.position == messages.c.position).order_by(path.c.depth.desc())


def _start_seen_by(model: BindParameter[str]) -> ColumnElement[str | None]:
    """The first message that was shown whole when this model answered last."""
    started = func.json_extract(messages.c.seen, "$.starts_at", type_=Text)
    return case((messages.c.model == model, started))


def ids_on_path(conversation: ColumnElement[bool]) -> Select[str]:
    """The ids alone, from the first message to `leaf_id`."""
    leaf = (
        select(
            messages.c.id,
            messages.c.conversation_id,
            messages.c.parent_id,
            literal(0).label("depth"),
        )
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(conversation, messages.c.id == bindparam("leaf_id"))
        .cte("path", recursive=True)
    )
    above = select(
        messages.c.id, messages.c.conversation_id, messages.c.parent_id, leaf.c.depth + 1
    ).where(messages.c.id == leaf.c.parent_id, messages.c.conversation_id == leaf.c.conversation_id)
    path = leaf.union_all(above)
    return select(path.c.id).order_by(path.c.depth.desc())


async def read_messages(
    connection: AsyncConnection, query: Select[*tuple[Any, ...]], **asked: object
) -> tuple[StoredMessage, ...]:
    rows = await connection.execute(query, asked)
    # Not on the event loop: thousands of messages take tens of milliseconds.
    return await asyncio.to_thread(lambda: tuple(_stored(row) for row in rows))


def _stored(row: Row[*tuple[Any, ...]]) -> StoredMessage:
    return StoredMessage(
        row.message_id,
        row.parent_id,
        row.role,
        row.parts,
        row.status,
        row.ending,
        row.usage,
        row.problem,
        row.seen,
        turn_id=row.turn_id,
        model=row.model,
        created_at=row.created_at,
        is_imported=row.is_imported,
        feedback=Feedback(row.rating, row.reason, row.text) if row.rating else None,
    )
