"""Who may come in. Passwords arrive here already hashed."""

from uuid import uuid4

from sqlalchemy import ColumnElement, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.credentials import name_key
from hitsend.errors import Conflict, NotFound
from hitsend.store.database import Database
from hitsend.store.rows import AccountRole, User
from hitsend.store.schema import sessions, users

USER = (users.c.id, users.c.name, users.c.role)


class Users:
    _database: Database

    async def count(self) -> int:
        """Those who can come in."""
        enabled = select(func.count()).select_from(users).where(is_enabled())
        async with self._database.read() as connection:
            return await connection.scalar(enabled) or 0

    async def create_first(self, name: str, password_hash: str) -> User:
        """The admin. Whoever comes second, however close, is told so."""
        async with self._database.write() as connection:
            if await connection.scalar(select(users.c.id).where(is_enabled()).limit(1)) is not None:
                raise Conflict("There is an admin account already. Sign in, or ask for an invite.")
            return await add_user(connection, name, password_hash, "admin", self._database.now())

    async def create(self, name: str, password_hash: str, role: AccountRole) -> User:
        async with self._database.write() as connection:
            return await add_user(connection, name, password_hash, role, self._database.now())

    async def rename(self, user_id: str, name: str) -> User:
        renaming = update(users).where(users.c.id == user_id).returning(*USER)
        async with self._database.write() as connection:
            await _check_name(connection, name, unless_of=user_id)
            renamed = await connection.execute(renaming.values(name=name, name_key=name_key(name)))
            row = renamed.one_or_none()
        if row is None:
            raise no_person()
        return User(*row)

    async def password_hash(self, user_id: str) -> str | None:
        theirs = select(users.c.password_hash).where(users.c.id == user_id, is_enabled())
        async with self._database.read() as connection:
            return await connection.scalar(theirs)

    async def change_password(self, user_id: str, password_hash: str, session_id: str) -> None:
        """Every session but this one ends."""
        changing = update(users).where(users.c.id == user_id, is_enabled())
        others = update(sessions).where(
            sessions.c.user_id == user_id,
            sessions.c.id != session_id,
            sessions.c.revoked_at.is_(None),
        )
        async with self._database.write() as connection:
            done = await connection.execute(changing.values(password_hash=password_hash))
            if done.rowcount == 0:
                raise no_person()
            await connection.execute(others.values(revoked_at=self._database.now()))

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


def is_admin() -> ColumnElement[bool]:
    return (users.c.role == "admin") & is_enabled()


def no_person() -> NotFound:
    return NotFound("There is no such person.", param="user_id")


async def _check_name(connection: AsyncConnection, name: str, unless_of: str | None = None) -> None:
    owner = select(users.c.id).where(users.c.name_key == name_key(name))
    if await connection.scalar(owner) not in (None, unless_of):
        raise Conflict(f"The name {name} is taken. Choose another.", param="name")


async def add_user(
    connection: AsyncConnection, name: str, password_hash: str, role: AccountRole, now: float
) -> User:
    user = User(str(uuid4()), name, role)
    await _check_name(connection, name)
    await connection.execute(
        insert(users).values(
            id=user.id,
            name=name,
            name_key=name_key(name),
            password_hash=password_hash,
            role=role,
            created_at=now,
        )
    )
    return user
