"""Who may come in. Passwords arrive here already hashed."""

from uuid import uuid4

from sqlalchemy import ColumnElement, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.credentials import name_key
from hitsend.errors import Conflict, NotFound
from hitsend.store.database import Database
from hitsend.store.rows import AccountRole, User
from hitsend.store.schema import users

USER = (users.c.id, users.c.name, users.c.role)


class Users:
    _database: Database

    async def count(self) -> int:
        async with self._database.read() as connection:
            return await connection.scalar(select(func.count()).select_from(users)) or 0

    async def create_first(self, name: str, password_hash: str) -> User:
        """The admin. Whoever comes second, however close, is told so."""
        async with self._database.write() as connection:
            if await connection.scalar(select(users.c.id).limit(1)) is not None:
                raise Conflict("There is an admin account already. Sign in, or ask for an invite.")
            return await add_user(connection, name, password_hash, "admin", self._database.now())

    async def create(self, name: str, password_hash: str, role: AccountRole) -> User:
        async with self._database.write() as connection:
            return await add_user(connection, name, password_hash, role, self._database.now())

    async def disable(self, user_id: str) -> None:
        """Neither password, session nor key of theirs holds from here on."""
        disabling = update(users).where(users.c.id == user_id, is_enabled())
        async with self._database.write() as connection:
            done = await connection.execute(disabling.values(disabled_at=self._database.now()))
            if done.rowcount == 0:
                raise NotFound("There is no such person.")

    async def by_name(self, name: str) -> tuple[User, str] | None:
        """With the hash of their password."""
        named = select(*USER, users.c.password_hash).where(
            users.c.name_key == name_key(name), is_enabled()
        )
        async with self._database.read() as connection:
            row = (await connection.execute(named)).one_or_none()
        return row and (User(*row[:3]), row.password_hash)

    async def list_users(self) -> list[User]:
        async with self._database.read() as connection:
            rows = await connection.execute(select(*USER).order_by(users.c.created_at))
        return [User(*row) for row in rows]


def is_enabled() -> ColumnElement[bool]:
    return users.c.disabled_at.is_(None)


async def add_user(
    connection: AsyncConnection, name: str, password_hash: str, role: AccountRole, now: float
) -> User:
    user, key = User(str(uuid4()), name, role), name_key(name)
    if await connection.scalar(select(users.c.id).where(users.c.name_key == key)) is not None:
        raise Conflict(f"The name {name} is taken. Choose another.", param="name")
    await connection.execute(
        insert(users).values(
            id=user.id,
            name=name,
            name_key=key,
            password_hash=password_hash,
            role=role,
            created_at=now,
        )
    )
    return user
