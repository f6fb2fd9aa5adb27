"""People as an administrator sees them, and the end of accounts."""

from msgspec import UNSET, UnsetType
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Conflict
from hitsend.store.context_schema import memories
from hitsend.store.database import Database
from hitsend.store.erasure import (
    erase_conversations,
    erase_each,
    erase_memories,
    erase_spending,
    erase_turns,
)
from hitsend.store.groups import check_group
from hitsend.store.rows import AccountRole, PersonLine
from hitsend.store.schema import api_keys, conversations, sessions, turns, users
from hitsend.store.users import is_admin, no_person

LAST_SEEN = (
    select(func.max(sessions.c.last_seen_at))
    .where(sessions.c.user_id == users.c.id)
    .scalar_subquery()
)
LAST_CALLED = (
    select(func.max(api_keys.c.last_used_at))
    .where(api_keys.c.user_id == users.c.id)
    .scalar_subquery()
)
NUM_CONVERSATIONS = (
    select(func.count())
    .select_from(conversations)
    .where(
        conversations.c.user_id == users.c.id,
        conversations.c.hidden_at.is_(None),
        conversations.c.is_temporary.is_(False),
    )
    .scalar_subquery()
)
LINE = select(
    users.c.id,
    users.c.name,
    users.c.role,
    users.c.created_at,
    users.c.disabled_at.is_not(None),
    # SQLite's max of two is null where one of them is.
    func.max(func.coalesce(LAST_SEEN, LAST_CALLED), func.coalesce(LAST_CALLED, LAST_SEEN)),
    NUM_CONVERSATIONS,
    users.c.group_id,
)


class People:
    _database: Database

    async def people(self) -> list[PersonLine]:
        """Everyone, in the order they came."""
        async with self._database.read() as connection:
            rows = await connection.execute(LINE.order_by(users.c.created_at, users.c.id))
        return [PersonLine(*row) for row in rows]

    async def change_person(
        self,
        user_id: str,
        *,
        role: AccountRole | None = None,
        is_disabled: bool | None = None,
        group_id: str | None | UnsetType = UNSET,
    ) -> None:
        """All of it or nothing. What is not given stays as it is.

        Of someone who is disabled neither password, session nor key holds. Once they are enabled,
        password and keys hold again, and browsers have to sign in anew.
        """
        async with self._database.write() as connection:
            await _check_person(connection, user_id)
            if role == "member" or is_disabled:
                await _check_not_last_admin(connection, user_id)
            named = update(users).where(users.c.id == user_id)
            if role is not None:
                await connection.execute(named.values(role=role))
            if group_id is not UNSET:
                if group_id is not None:
                    await check_group(connection, group_id)
                await connection.execute(named.values(group_id=group_id))
            if is_disabled is False:
                await connection.execute(named.values(disabled_at=None))
            if is_disabled:
                await self._shut_out(connection, user_id)

    async def disable(self, user_id: str) -> None:
        await self.change_person(user_id, is_disabled=True)

    async def enable(self, user_id: str) -> None:
        await self.change_person(user_id, is_disabled=False)

    async def close_account(self, user_id: str) -> None:
        """What comes before `erase`: nobody comes in as them any more. The last administrator
        goes only when nobody else is left."""
        others = select(users.c.id).where(users.c.id != user_id).limit(1)
        async with self._database.write() as connection:
            await _check_person(connection, user_id)
            if await connection.scalar(others) is not None:
                await _check_not_last_admin(connection, user_id)
            await self._shut_out(connection, user_id)

    async def erase(self, user_id: str) -> None:
        """Everything of theirs, for good. No other write has to wait for all of it."""
        await erase_conversations(self._database, conversations.c.user_id == user_id)
        await erase_turns(self._database, turns.c.user_id == user_id)
        await erase_spending(self._database, user_id)
        await erase_memories(self._database, memories.c.user_id == user_id)
        await erase_each(self._database, delete(users).where(users.c.id == user_id))

    async def _shut_out(self, connection: AsyncConnection, user_id: str) -> None:
        now = self._database.now()
        since = func.coalesce(users.c.disabled_at, now)
        await connection.execute(
            update(users).where(users.c.id == user_id).values(disabled_at=since)
        )
        theirs = sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None)
        await connection.execute(update(sessions).where(*theirs).values(revoked_at=now))


async def _check_person(connection: AsyncConnection, user_id: str) -> None:
    if await connection.scalar(select(users.c.id).where(users.c.id == user_id)) is None:
        raise no_person()


async def _check_not_last_admin(connection: AsyncConnection, user_id: str) -> None:
    admins = await connection.scalars(select(users.c.id).where(is_admin()))
    if set(admins) == {user_id}:
        raise Conflict("This is the last administrator. Make someone else an administrator first.")
