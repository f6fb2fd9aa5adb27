"""Deletes conversations, turns, memories and usage in small transactions, so other writes go on.

Rows are deleted after the rows that refer to them. A cascade from a conversation could delete a
hundred thousand rows in one transaction.
"""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import ColumnElement, Connection, Delete, and_, delete, func, literal_column, select

from hitsend.store.context_schema import memories
from hitsend.store.database import MAX_BATCH_ROWS, Database, split_batches
from hitsend.store.schema import (
    api_keys,
    conversations,
    ledger,
    limits,
    messages,
    turn_events,
    turns,
)
from hitsend.store.tool_schema import tool_files

MAX_CONVERSATIONS = 20
MAX_TURNS = 50
MAX_EVENTS = 500
MAX_LEDGER_ROWS = 500
MAX_MEMORIES = 500
MAX_FILES = 4
"""Maximum rows of one transaction."""

EVENT_ROWID: ColumnElement[int] = literal_column("rowid")


async def erase_conversations(database: Database, where: ColumnElement[bool]) -> None:
    """Deletes hidden conversations, to which nothing can be added any more.

    NOTE: meanwhile an import may create one again under the same id. It does not match `where`,
    so each step filters by `where` again.
    """
    while ids := await _next_conversations(database, where):
        is_next = and_(conversations.c.id.in_(ids), where)
        next_ids = select(conversations.c.id).where(is_next)
        await _erase_messages(database, messages.c.conversation_id.in_(next_ids))
        await erase_turns(database, turns.c.conversation_id.in_(next_ids))
        await _erase_files(database, tool_files.c.conversation_id.in_(next_ids))
        await erase_in_batches(database, delete(conversations).where(is_next))
        await database.truncate_wal()


async def erase_turns(database: Database, where: ColumnElement[bool]) -> None:
    """Deletes turns and their logs. Their messages must have been deleted before."""
    is_event = turn_events.c.turn_id.in_(select(turns.c.id).where(where))
    events = select(EVENT_ROWID).select_from(turn_events).where(is_event).limit(MAX_EVENTS)
    await erase_in_batches(database, delete(turn_events).where(EVENT_ROWID.in_(events)))
    batch = select(turns.c.id).where(where).limit(MAX_TURNS)
    await erase_in_batches(database, delete(turns).where(turns.c.id.in_(batch)))


async def erase_usage(database: Database, user_id: str) -> None:
    """Deletes a person's ledger rows, and the limits of them and their keys."""
    keys = select(api_keys.c.id).where(api_keys.c.user_id == user_id)
    own = (limits.c.scope == "user") & (limits.c.target == user_id)
    of_keys = (limits.c.scope == "key") & limits.c.target.in_(keys)
    await erase_in_batches(database, delete(limits).where(own | of_keys))
    batch = select(ledger.c.position).where(ledger.c.user_id == user_id).limit(MAX_LEDGER_ROWS)
    await erase_in_batches(database, delete(ledger).where(ledger.c.position.in_(batch)))


async def erase_memories(database: Database, where: ColumnElement[bool]) -> None:
    """Reads first, because usually there are none and a write takes the lock."""
    batch = select(memories.c.id).where(where).limit(MAX_MEMORIES)
    if await database.read(lambda connection: connection.scalar(batch)) is None:
        return
    await erase_in_batches(database, delete(memories).where(memories.c.id.in_(batch), where))
    await database.truncate_wal()


async def erase_in_batches(database: Database, batch: Delete) -> None:
    """Repeats a DELETE, each in its own transaction, until it deletes nothing."""
    num_erased = 1
    while num_erased:
        num_erased = await database.write(lambda connection: connection.execute(batch).rowcount)


async def _erase_files(database: Database, where: ColumnElement[bool]) -> None:
    batch = select(tool_files.c.id).where(where).limit(MAX_FILES)
    await erase_in_batches(database, delete(tool_files).where(tool_files.c.id.in_(batch)))


async def _next_conversations(database: Database, where: ColumnElement[bool]) -> Sequence[str]:
    batch = select(conversations.c.id).where(where).limit(MAX_CONVERSATIONS)
    return await database.read(lambda connection: connection.scalars(batch).all())


async def _erase_messages(database: Database, where: ColumnElement[bool]) -> None:
    """Deletes the newest messages first, because a message refers to its parent."""
    order = messages.c.conversation_id, messages.c.position.desc()
    batch = select(messages.c.position).where(where).order_by(*order).limit(MAX_BATCH_ROWS)
    lengths = select(messages.c.position, func.length(messages.c.parts).label("num_chars"))
    newest = lengths.where(messages.c.position.in_(batch)).order_by(*order)
    while True:
        rows = await database.read(lambda connection: connection.execute(newest).all())
        if not rows:
            return
        first = next(split_batches(rows, lambda row: int(row.num_chars)))
        is_next = messages.c.position.in_([row.position for row in first])
        erasing = delete(messages).where(is_next, where)
        await database.write(partial(_execute, statement=erasing))


def _execute(connection: Connection, statement: Delete) -> None:
    connection.execute(statement)
