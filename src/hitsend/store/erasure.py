"""How conversations and turns go for good: little by little, so that nobody's words wait.

A row goes after everything that hangs on it. Left to the database, a conversation takes along in
one go what may be a hundred thousand rows.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Delete, and_, delete, func, literal_column, select

from hitsend.store.context_schema import memories
from hitsend.store.database import Database
from hitsend.store.portions import MOST_ROWS, portions
from hitsend.store.schema import (
    api_keys,
    conversations,
    ledger,
    limits,
    messages,
    turn_events,
    turns,
)

MOST_CONVERSATIONS = 20
MOST_TURNS = 50
MOST_EVENTS = 500
MOST_LINES = 500
MOST_MEMORIES = 500
"""Of one portion."""

EVENT: ColumnElement[int] = literal_column("rowid")


async def erase_conversations(database: Database, which: ColumnElement[bool]) -> None:
    """Such that nobody adds anything to them any more.

    NOTE: an import may bring one anew under the same id meanwhile. It is none of `which`, so each
    step asks again.
    """
    while ids := await _some_conversations(database, which):
        them = and_(conversations.c.id.in_(ids), which)
        inside = select(conversations.c.id).where(them)
        await _erase_messages(database, messages.c.conversation_id.in_(inside))
        await erase_turns(database, turns.c.conversation_id.in_(inside))
        await erase_each(database, delete(conversations).where(them))
        await database.empty_log()


async def erase_turns(database: Database, which: ColumnElement[bool]) -> None:
    """With their logs. Their messages are gone already, if they ever had any."""
    of_them = turn_events.c.turn_id.in_(select(turns.c.id).where(which))
    events = select(EVENT).select_from(turn_events).where(of_them).limit(MOST_EVENTS)
    await erase_each(database, delete(turn_events).where(EVENT.in_(events)))
    some = select(turns.c.id).where(which).limit(MOST_TURNS)
    await erase_each(database, delete(turns).where(turns.c.id.in_(some)))


async def erase_spending(database: Database, user_id: str) -> None:
    """What a person used, and what they and their keys may use."""
    keys = select(api_keys.c.id).where(api_keys.c.user_id == user_id)
    own = (limits.c.scope == "user") & (limits.c.target == user_id)
    of_keys = (limits.c.scope == "key") & limits.c.target.in_(keys)
    await erase_each(database, delete(limits).where(own | of_keys))
    some = select(ledger.c.position).where(ledger.c.user_id == user_id).limit(MOST_LINES)
    await erase_each(database, delete(ledger).where(ledger.c.position.in_(some)))


async def erase_memories(database: Database, which: ColumnElement[bool]) -> None:
    """Looks first: most of the time there is nothing to write."""
    some = select(memories.c.id).where(which).limit(MOST_MEMORIES)
    async with database.read() as connection:
        if await connection.scalar(some) is None:
            return
    await erase_each(database, delete(memories).where(memories.c.id.in_(some), which))
    await database.empty_log()


async def erase_each(database: Database, portion: Delete) -> None:
    """Portion by portion, until nothing is left."""
    num_erased = 1
    while num_erased:
        async with database.write() as connection:
            num_erased = (await connection.execute(portion)).rowcount


async def _some_conversations(database: Database, which: ColumnElement[bool]) -> Sequence[str]:
    some = select(conversations.c.id).where(which).limit(MOST_CONVERSATIONS)
    async with database.read() as connection:
        return (await connection.scalars(some)).all()


async def _erase_messages(database: Database, which: ColumnElement[bool]) -> None:
    """The last one of a conversation first: each goes before the one it follows."""
    order = messages.c.conversation_id, messages.c.position.desc()
    some = select(messages.c.position).where(which).order_by(*order).limit(MOST_ROWS)
    lengths = select(messages.c.position, func.length(messages.c.parts).label("num_chars"))
    last = lengths.where(messages.c.position.in_(some)).order_by(*order)
    while True:
        async with database.read() as connection:
            rows = (await connection.execute(last)).all()
        if not rows:
            return
        portion = next(portions(rows, lambda row: int(row.num_chars)))
        is_next = messages.c.position.in_([row.position for row in portion])
        async with database.write() as connection:
            await connection.execute(delete(messages).where(is_next, which))
