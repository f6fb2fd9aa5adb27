"""Shares: a path of a conversation, to be read by anyone who knows the share's id.

Nothing is copied. What leads to a message never changes once it is said, so a share shows what
it showed when it was made, and goes with its conversation.
"""

import secrets
from typing import Any

from sqlalchemy import Row, Select, delete, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Conflict, NotFound, Refused
from hitsend.store.conversations import is_here, no_message
from hitsend.store.database import Database
from hitsend.store.rows import Share, Shared
from hitsend.store.schema import conversations, messages, shares, users
from hitsend.store.trees import path_to, read_messages
from hitsend.store.users import is_enabled

SHARE = (shares.c.id, shares.c.title, shares.c.conversation_id, shares.c.created_at)

NUM_ID_BYTES = 24
"""Of chance: nobody guesses one."""
MOST_SHARES = 1_000
"""A person may have. Their list is never paged."""


class Shares:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, conversation_id: str, user_id: str, message_id: str) -> Share:
        """The path to this message. Made again, it is the same share under the newest title."""
        last = (
            select(conversations.c.title, conversations.c.is_temporary, messages.c.status)
            .join(messages, messages.c.conversation_id == conversations.c.id)
            .where(is_here(conversation_id, user_id), messages.c.id == message_id)
        )
        async with self._database.write() as connection:
            row = (await connection.execute(last)).one_or_none()
            if row is None:
                raise no_message()
            if row.is_temporary:
                raise Refused("A temporary conversation cannot be shared.", param="conversation_id")
            if row.status == "in_progress":
                raise Conflict("The answer is still being written. Stop it or wait for it.")
            adding = insert(shares).values(
                id=secrets.token_urlsafe(NUM_ID_BYTES),
                conversation_id=conversation_id,
                message_id=message_id,
                title=row.title,
                created_at=self._database.now(),
            )
            kept = adding.on_conflict_do_update(
                ["conversation_id", "message_id"], set_={"title": row.title}
            )
            share = Share(*(await connection.execute(kept.returning(*SHARE))).one())
            await _check_number(connection, user_id)
        return share

    async def list(self, user_id: str) -> list[Share]:
        """The newest first."""
        theirs = (
            select(*SHARE)
            .join(conversations, conversations.c.id == shares.c.conversation_id)
            .where(conversations.c.user_id == user_id, conversations.c.hidden_at.is_(None))
            .order_by(shares.c.created_at.desc(), shares.c.id)
        )
        async with self._database.read() as connection:
            return [Share(*row) for row in await connection.execute(theirs)]

    async def revoke(self, share_id: str, user_id: str) -> None:
        theirs = select(conversations.c.id).where(conversations.c.user_id == user_id)
        revoking = delete(shares).where(
            shares.c.id == share_id, shares.c.conversation_id.in_(theirs)
        )
        async with self._database.write() as connection:
            if (await connection.execute(revoking)).rowcount == 0:
                raise no_share()

    async def read(self, share_id: str) -> Shared:
        """For anyone: to know the id is to be allowed. Not what is hidden, nor of someone who
        may not come in any more."""
        readable = (
            select(*SHARE, shares.c.message_id, conversations.c.user_id)
            .join(conversations, conversations.c.id == shares.c.conversation_id)
            .join(users, users.c.id == conversations.c.user_id)
            .where(shares.c.id == share_id, conversations.c.hidden_at.is_(None), is_enabled())
        )
        async with self._database.read() as connection:
            row = (await connection.execute(readable)).one_or_none()
            said = await read_messages(connection, _path(row)) if row else ()
        if not row or not said:  # not there, or gone between the two questions
            raise no_share()
        return Shared(row.title, row.created_at, said)


async def _check_number(connection: AsyncConnection, user_id: str) -> None:
    theirs = (
        select(func.count())
        .select_from(shares)
        .join(conversations, conversations.c.id == shares.c.conversation_id)
        .where(conversations.c.user_id == user_id)
    )
    if (await connection.scalar(theirs) or 0) > MOST_SHARES:
        raise Conflict(f"You share {MOST_SHARES:,} links, the most there can be. Take some back.")


def _path(row: Row[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return path_to(row.message_id, is_here(row.conversation_id, row.user_id))


def no_share() -> NotFound:
    return NotFound("There is no such share, or it was taken back.", param="share_id")
