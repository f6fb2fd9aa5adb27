"""Queries for the messages of a conversation: the whole tree, or one path from root to leaf. The
caller checks who owns the conversation."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    CTE,
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Select,
    Text,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
)

from hitsend.messages import Feedback
from hitsend.store.prepared import is_one_of
from hitsend.store.rows import MessageRow
from hitsend.store.schema import conversations, feedback, messages, turns

JSON_CHARS = len('[{"kind":"text","text":""}]')
"""Around the text of a message."""

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
        messages.c.safety,
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


def select_tree() -> Select[*tuple[Any, ...]]:
    """Selects every message, siblings in order of creation. Callers build it once."""
    in_conversation = messages.c.conversation_id == bindparam("conversation_id")
    return MESSAGE.where(in_conversation).order_by(messages.c.position)


def select_messages(conversation: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Selects those with the ids of the list `ids`. Callers build it once."""
    in_conversation = conversations.c.id == messages.c.conversation_id
    is_asked_for = is_one_of(messages.c.id, "ids")
    return MESSAGE.join(conversations, in_conversation).where(conversation, is_asked_for)


def select_sizes(conversation: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Selects the `MessageSize` of those with the ids of the list `ids`."""
    num_chars = func.length(messages.c.parts) - JSON_CHARS
    return (
        select(messages.c.id, messages.c.parent_id, messages.c.role, num_chars)
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(conversation, is_one_of(messages.c.id, "ids"))
        .order_by(messages.c.position)
    )


def select_path(leaf_id: str, conversation: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Selects the messages from the root to this one."""
    path = _path(leaf_id, conversation, messages.c.position)
    return MESSAGE.join(path, path.c.position == messages.c.position).order_by(path.c.depth.desc())


def select_path_ids(conversation: ColumnElement[bool]) -> Select[str, str | None]:
    """Selects the ids and parents from the root to `leaf_id`, or only below `known_id` if that is
    on the path."""
    path = _path(bindparam("leaf_id"), conversation, messages.c.id, bindparam("known_id"))
    return select(path.c.id, path.c.parent_id).order_by(path.c.depth.desc())


def _path(
    leaf_id: str | BindParameter[str],
    conversation: ColumnElement[bool],
    column: Column[Any],
    known_id: str | BindParameter[str] = "",
) -> CTE:
    """The column of each message from this one up to the root, or up to below `known_id`, and its
    depth."""
    leaf = (
        select(column, messages.c.conversation_id, messages.c.parent_id, literal(0).label("depth"))
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(conversation, messages.c.id == leaf_id)
        .cte("path", recursive=True)
    )
    above = select(
        column, messages.c.conversation_id, messages.c.parent_id, leaf.c.depth + 1
    ).where(
        messages.c.id == leaf.c.parent_id,
        messages.c.conversation_id == leaf.c.conversation_id,
        leaf.c.parent_id != known_id,
    )
    return leaf.union_all(above)


NUM_RECENT_STEPS = 6
"""A question, its answer, and perhaps the results of tools between them."""


def select_recent_questions(conversation: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Selects the parts of what the person said last up to `leaf_id`, the newest first, without
    what the safety checks doubted. Callers build it once."""
    leaf = (
        select(
            messages.c.position,
            messages.c.conversation_id,
            messages.c.parent_id,
            literal(0).label("depth"),
        )
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(conversation, messages.c.id == bindparam("leaf_id"))
        .cte("path", recursive=True)
    )
    above = select(
        messages.c.position, messages.c.conversation_id, messages.c.parent_id, leaf.c.depth + 1
    ).where(
        messages.c.id == leaf.c.parent_id,
        messages.c.conversation_id == leaf.c.conversation_id,
        leaf.c.depth < NUM_RECENT_STEPS,
    )
    path = leaf.union_all(above)
    outcome = func.json_extract(messages.c.safety, "$.outcome", type_=Text)
    is_clean = or_(outcome.is_(None), outcome == "allow", outcome == "redact")
    return (
        select(messages.c.parts)
        .join(path, path.c.position == messages.c.position)
        .where(messages.c.role == "user", is_clean)
        .order_by(path.c.depth)
    )


def select_path_end(conversation: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Selects the path to `leaf_id` within a `PathLimit`. Callers build it once."""
    start = func.coalesce(bindparam("start_id", type_=Text), _last_start(bindparam("model")))
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


def _last_start(model: BindParameter[str]) -> ColumnElement[str | None]:
    """The first message that this model was shown in full when it last answered."""
    start = func.json_extract(messages.c.seen, "$.starts_at", type_=Text)
    return case((messages.c.model == model, start))


def read_messages(
    connection: Connection, query: Select[*tuple[Any, ...]]
) -> tuple[MessageRow, ...]:
    return tuple(map(as_message_row, connection.execute(query)))


def as_message_row(row: Sequence[Any]) -> MessageRow:
    """Converts a row of `MESSAGE`."""
    *folded, turn_id, model, created_at, is_imported, rating, reason, text = row
    return MessageRow(
        *folded,
        turn_id=turn_id,
        model=model,
        created_at=created_at,
        is_imported=is_imported,
        feedback=Feedback(rating, reason, text) if rating else None,
    )
