"""Shares: paths of conversations that anyone who knows the share's id can read.

A share copies nothing: the path to a message never changes. It is deleted with its conversation.
"""

import secrets
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import Conflict, NotFound, Refused
from hitsend.store.audit import record
from hitsend.store.audit_events import SERVER, Actor, ShareCreated, ShareRevoked
from hitsend.store.conversations import is_visible_to, message_not_found
from hitsend.store.database import Database, reads, writes
from hitsend.store.message_queries import read_messages, select_path
from hitsend.store.rows import Share, SharedPath
from hitsend.store.schema import conversations, messages, shares, users
from hitsend.store.users import is_enabled

SHARE_COLUMNS = (shares.c.id, shares.c.title, shares.c.conversation_id, shares.c.created_at)

NUM_ID_BYTES = 24
"""Random, so ids cannot be guessed."""
MAX_SHARES = 1_000
"""Per person, because the list of shares is not paged."""


class Shares:
    def __init__(self, database: Database) -> None:
        self._database = database

    @writes
    def create(
        self,
        connection: Connection,
        conversation_id: str,
        user_id: str,
        message_id: str,
        by: Actor = SERVER,
    ) -> Share:
        """Shares the path to this message. Repeated, it updates the title of the same share."""
        query = (
            select(conversations.c.title, conversations.c.is_temporary, messages.c.status)
            .join(messages, messages.c.conversation_id == conversations.c.id)
            .where(is_visible_to(conversation_id, user_id), messages.c.id == message_id)
        )
        row = connection.execute(query).one_or_none()
        if row is None:
            raise message_not_found()
        if row.is_temporary:
            raise Refused("A temporary conversation cannot be shared.", param="conversation_id")
        if row.status == "in_progress":
            raise Conflict("The answer is still being written. Stop it or wait for it.")
        share_id, now = secrets.token_urlsafe(NUM_ID_BYTES), self._database.now()
        new = insert(shares).values(
            id=share_id,
            conversation_id=conversation_id,
            message_id=message_id,
            title=row.title,
            created_at=now,
        )
        upsert = new.on_conflict_do_update(
            ["conversation_id", "message_id"], set_={"title": row.title}
        )
        share = Share(*connection.execute(upsert.returning(*SHARE_COLUMNS)).one())
        _check_number(connection, user_id)
        if share.id == share_id:
            record(connection, ShareCreated(conversation_id), by, now)
        return share

    @reads
    def list(self, connection: Connection, user_id: str) -> list[Share]:
        """Newest first."""
        query = (
            select(*SHARE_COLUMNS)
            .join(conversations, conversations.c.id == shares.c.conversation_id)
            .where(conversations.c.user_id == user_id, conversations.c.hidden_at.is_(None))
            .order_by(shares.c.created_at.desc(), shares.c.id)
        )
        return [Share(*row) for row in connection.execute(query)]

    @writes
    def revoke(
        self, connection: Connection, share_id: str, user_id: str, by: Actor = SERVER
    ) -> None:
        own = select(conversations.c.id).where(conversations.c.user_id == user_id)
        query = delete(shares).where(shares.c.id == share_id, shares.c.conversation_id.in_(own))
        conversation_id = connection.scalar(query.returning(shares.c.conversation_id))
        if conversation_id is None:
            raise share_not_found()
        record(connection, ShareRevoked(conversation_id), by, self._database.now())

    @reads
    def read(self, connection: Connection, share_id: str) -> SharedPath:
        """Needs no account. A hidden conversation or a disabled owner's share is not found."""
        query = (
            select(*SHARE_COLUMNS, shares.c.message_id, conversations.c.user_id)
            .join(conversations, conversations.c.id == shares.c.conversation_id)
            .join(users, users.c.id == conversations.c.user_id)
            .where(shares.c.id == share_id, conversations.c.hidden_at.is_(None), is_enabled())
        )
        row = connection.execute(query).one_or_none()
        path = read_messages(connection, _select_path(row)) if row else ()
        if not row or not path:  # missing, or deleted between the two queries
            raise share_not_found()
        return SharedPath(row.title, row.created_at, path)


def _check_number(connection: Connection, user_id: str) -> None:
    count = (
        select(func.count())
        .select_from(shares)
        .join(conversations, conversations.c.id == shares.c.conversation_id)
        .where(conversations.c.user_id == user_id)
    )
    if (connection.scalar(count) or 0) > MAX_SHARES:
        raise Conflict(f"You share {MAX_SHARES:,} links, the most there can be. Revoke some.")


def _select_path(row: Row[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return select_path(row.message_id, is_visible_to(row.conversation_id, row.user_id))


def share_not_found() -> NotFound:
    return NotFound("There is no such share, or it was revoked.", param="share_id")
