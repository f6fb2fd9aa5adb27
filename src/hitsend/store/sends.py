"""Idempotency keys of Sends, kept for a day: a Send that is repeated starts one turn.

A key is stored in the transaction that stores its turn, so neither exists without the other.
"""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, exists, or_, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import KeyReused
from hitsend.store.database import Database
from hitsend.store.erase_in_batches import erase_in_batches
from hitsend.store.prepared import Prepared
from hitsend.store.rows import NewTurn
from hitsend.store.schema import messages, sends, turns

RETENTION_S = 86_400.0
MAX_ROWS_PER_DELETE = 500

CAN_RETRY = exists().where(
    turns.c.id == sends.c.turn_id,
    turns.c.surface == "api",
    or_(turns.c.state == "interrupted", turns.c.state == "failed"),
)
"""An API call without a whole answer starts a new turn when it is repeated. A conversation keeps
the partial answer, and the person decides."""

FIND_SEND = Prepared(
    select(sends.c.turn_id, sends.c.fingerprint).where(
        sends.c.user_id == bindparam("user_id"),
        sends.c.key == bindparam("key"),
        sends.c.created_at > bindparam("since"),
        ~CAN_RETRY,
    )
)

NEW_SEND = insert(sends)
REPLACED = {name: NEW_SEND.excluded[name] for name in ("fingerprint", "turn_id", "created_at")}
RECORD_SEND = Prepared(
    NEW_SEND.on_conflict_do_update(["user_id", "key"], set_=REPLACED), *sends.columns.keys()
)


class RecordedSend(NamedTuple):
    turn_id: str
    fingerprint: str


class DuplicateSend(Exception):
    """This Send was accepted before. The sender gets that turn, and no error."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(turn_id)
        self.turn_id = turn_id


def check_fingerprint(recorded: RecordedSend, fingerprint: str) -> None:
    if recorded.fingerprint != fingerprint:
        raise KeyReused(
            "This idempotency key was used for something else. Take a new one.",
            param="Idempotency-Key",
        )


def find_send(connection: Connection, user_id: str, key: str, now: float) -> RecordedSend | None:
    row = FIND_SEND.first(connection, user_id=user_id, key=key, since=now - RETENTION_S)
    return None if row is None else RecordedSend(*row)


def find_same_message(connection: Connection, new: NewTurn) -> str | None:
    """Returns the turn of the same message with the same fingerprint, under any key."""
    query = (
        select(sends.c.turn_id)
        .join(messages, messages.c.turn_id == sends.c.turn_id)
        .where(sends.c.user_id == new.user_id, sends.c.fingerprint == new.fingerprint)
        .where(messages.c.id == new.message_id)
        .limit(1)
    )
    return connection.scalar(query)


def check_not_sent(connection: Connection, new: NewTurn, now: float) -> None:
    """Raises DuplicateSend, or KeyReused when the key belongs to a different request."""
    if new.key is None:
        return
    if recorded := find_send(connection, new.user_id, new.key, now):
        check_fingerprint(recorded, new.fingerprint)
        raise DuplicateSend(recorded.turn_id)


def record_send(connection: Connection, new: NewTurn, now: float) -> None:
    """Replaces an expired or retryable row of the same key: `check_not_sent` was called before."""
    if new.key is None:
        return
    RECORD_SEND.run(
        connection,
        user_id=new.user_id,
        key=new.key,
        fingerprint=new.fingerprint,
        turn_id=new.turn_id,
        created_at=now,
    )


async def delete_expired(database: Database) -> None:
    """Reads first, because usually nothing has expired and a write takes the lock."""
    is_expired = sends.c.created_at <= database.now() - RETENTION_S
    batch = select(sends.c.turn_id).where(is_expired).limit(MAX_ROWS_PER_DELETE)
    if await database.read(lambda connection: connection.scalar(batch)) is None:
        return
    await erase_in_batches(database, delete(sends).where(sends.c.turn_id.in_(batch), is_expired))
