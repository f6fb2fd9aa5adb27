"""Users: names, roles and password hashes. Passwords arrive hashed."""

from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from hitsend.credentials import name_key
from hitsend.errors import Conflict, NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import (
    SERVER,
    AccountCreated,
    AccountRenamed,
    Actor,
)
from hitsend.store.database import Database, reads, writes
from hitsend.store.first_account import finish_setup
from hitsend.store.rows import AccountRole, User
from hitsend.store.schema import users

USER_COLUMNS = (users.c.id, users.c.name, users.c.role)


class Users:
    _database: Database

    @reads
    def count_enabled(self, connection: Connection) -> int:
        query = select(func.count()).select_from(users).where(is_enabled())
        return connection.scalar(query) or 0

    @writes
    def create_first(
        self, connection: Connection, name: str, password_hash: str, by: Actor = SERVER
    ) -> User:
        """Creates the first administrator. Raises Conflict if there is an account already."""
        if connection.scalar(select(users.c.id).where(is_enabled()).limit(1)) is not None:
            raise Conflict("There is an admin account already. Sign in, or ask for an invite.")
        user = self._create(connection, name, password_hash, "admin", by)
        finish_setup(connection, self._database.path)
        return user

    @writes
    def create(
        self,
        connection: Connection,
        name: str,
        password_hash: str,
        role: AccountRole,
        by: Actor = SERVER,
    ) -> User:
        return self._create(connection, name, password_hash, role, by)

    def _create(
        self, connection: Connection, name: str, password_hash: str, role: AccountRole, by: Actor
    ) -> User:
        user = add_user(connection, name, password_hash, role, self._database.now())
        record(connection, AccountCreated(user.id, role), by, self._database.now())
        return user

    @writes
    def rename(self, connection: Connection, user_id: str, name: str, by: Actor = SERVER) -> User:
        query = update(users).where(users.c.id == user_id).returning(*USER_COLUMNS)
        _check_name(connection, name, except_id=user_id)
        values = {"name": name, "name_key": name_key(name)}
        # Before the change, because the entry names both: who did it, and their new name.
        record(connection, AccountRenamed(user_id), by, self._database.now(), subject_name=name)
        row = connection.execute(query.values(values)).one_or_none()
        if row is None:
            raise user_not_found()
        return User(*row)

    @reads
    def password_hash(self, connection: Connection, user_id: str) -> str | None:
        query = select(users.c.password_hash).where(users.c.id == user_id, is_enabled())
        return connection.scalar(query)

    @reads
    def find_by_name(self, connection: Connection, name: str) -> tuple[User, str] | None:
        """Returns the user with their password hash."""
        query = select(*USER_COLUMNS, users.c.password_hash).where(
            users.c.name_key == name_key(name), is_enabled()
        )
        row = connection.execute(query).one_or_none()
        return row and (User(*row[:3]), row.password_hash)

    @reads
    def list_users(self, connection: Connection) -> list[User]:
        rows = connection.execute(select(*USER_COLUMNS).order_by(users.c.created_at))
        return [User(*row) for row in rows]


def is_enabled() -> ColumnElement[bool]:
    return users.c.disabled_at.is_(None)


def is_admin() -> ColumnElement[bool]:
    return (users.c.role == "admin") & is_enabled()


def user_not_found() -> NotFound:
    return NotFound("There is no such person.", param="user_id")


def _check_name(connection: Connection, name: str, except_id: str | None = None) -> None:
    owner = select(users.c.id).where(users.c.name_key == name_key(name))
    if connection.scalar(owner) not in (None, except_id):
        raise Conflict(f"The name {name} is taken. Choose another.", param="name")


def add_user(
    connection: Connection, name: str, password_hash: str, role: AccountRole, now: float
) -> User:
    user = User(str(uuid4()), name, role)
    _check_name(connection, name)
    connection.execute(
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
