"""What was sent under which key, for a day: so that what is sent twice happens once.

It stands in the same transaction as the turn, so that there is never the one without the other.
"""

from typing import NamedTuple

from sqlalchemy import delete, exists, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import KeyReused
from hitsend.store.database import Database
from hitsend.store.erasure import erase_each
from hitsend.store.rows import NewTurn
from hitsend.store.schema import messages, sends, turns

KEPT_S = 86_400.0
MOST_ROWS = 500
"""Of one portion."""


CAME_TO_NOTHING = exists().where(
    turns.c.id == sends.c.turn_id,
    turns.c.surface == "api",
    turns.c.state.in_(("interrupted", "failed")),
)
"""An API call that got no whole answer: asked again, it is begun again. In a conversation what
there is of the answer is kept, and the person decides."""


class SentSend(NamedTuple):
    turn_id: str
    fingerprint: str


class SentBefore(Exception):
    """The same was asked for already. Nobody is told: they get that turn."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(turn_id)
        self.turn_id = turn_id


def check_same(sent: SentSend, fingerprint: str) -> None:
    if sent.fingerprint != fingerprint:
        raise KeyReused(
            "This idempotency key was used for something else. Take a new one.",
            param="Idempotency-Key",
        )


async def find_send(
    connection: AsyncConnection, user_id: str, key: str, now: float
) -> SentSend | None:
    theirs = select(sends.c.turn_id, sends.c.fingerprint).where(
        sends.c.user_id == user_id,
        sends.c.key == key,
        sends.c.created_at > now - KEPT_S,
        ~CAME_TO_NOTHING,
    )
    row = (await connection.execute(theirs)).one_or_none()
    return None if row is None else SentSend(*row)


async def find_same(connection: AsyncConnection, new: NewTurn) -> str | None:
    """The turn in which the same message asked for the same, under whatever key."""
    theirs = select(sends.c.turn_id).where(
        sends.c.user_id == new.user_id, sends.c.fingerprint == new.fingerprint
    )
    in_it = messages.c.turn_id == sends.c.turn_id
    same = theirs.join(messages, in_it).where(messages.c.id == new.message_id).limit(1)
    return await connection.scalar(same)


async def check_new(connection: AsyncConnection, new: NewTurn, now: float) -> None:
    """Raises SentBefore, or KeyReused where the key was used for something else."""
    if new.key is None:
        return
    if sent := await find_send(connection, new.user_id, new.key, now):
        check_same(sent, new.fingerprint)
        raise SentBefore(sent.turn_id)


async def remember(connection: AsyncConnection, new: NewTurn, now: float) -> None:
    """For a turn that was checked to be new: what is left under its key does not count."""
    if new.key is None:
        return
    told = {"fingerprint": new.fingerprint, "turn_id": new.turn_id, "created_at": now}
    remembering = insert(sends).values(user_id=new.user_id, key=new.key, **told)
    await connection.execute(remembering.on_conflict_do_update(["user_id", "key"], set_=told))


async def forget_old(database: Database) -> None:
    """Looks first: most of the time there is nothing to write."""
    is_old = sends.c.created_at <= database.now() - KEPT_S
    some = select(sends.c.turn_id).where(is_old).limit(MOST_ROWS)
    async with database.read() as connection:
        if await connection.scalar(some) is None:
            return
    await erase_each(database, delete(sends).where(sends.c.turn_id.in_(some), is_old))
