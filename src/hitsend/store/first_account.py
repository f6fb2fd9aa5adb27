"""The first account: whether it has to be made, and the token that its maker may need.

A file beside the database notes that there were accounts. If they are gone all the same, the
database was lost, and the next visitor must not become the administrator for that.
"""

import os
import secrets
from pathlib import Path

import msgspec
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.store.database import Database, reads, writes
from hitsend.store.schema import meta, users

MARKER = "had-accounts"
NOTE = (
    "There were accounts in the database beside this file. If they are gone, hitsend asks for its\n"
    "setup token before anybody becomes the administrator: the database may have been lost.\n"
)
TOKEN_KEY = "setup_token"


class SetupState(msgspec.Struct, frozen=True):
    needs_first_account: bool
    is_database_lost: bool
    """There were accounts in this data directory, and none of them is left."""


class FirstAccountSetup:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def state(self, connection: Connection) -> SetupState:
        if connection.scalar(HAS_ACCOUNT) is not None:
            return SetupState(False, False)
        return SetupState(True, had_accounts(self._database.path))

    @writes
    def note_accounts(self, connection: Connection) -> None:
        """Writes the note for a database that is older than the note."""
        if connection.scalar(HAS_ACCOUNT) is not None:
            note_accounts(self._database.path)

    @writes
    def token(self, connection: Connection) -> str:
        """Returns the token, which is the same until the first account is made."""
        row = insert(meta).values(key=TOKEN_KEY, value=secrets.token_urlsafe(32).encode())
        connection.execute(row.on_conflict_do_nothing())
        stored: bytes = connection.execute(
            select(meta.c.value).where(meta.c.key == TOKEN_KEY)
        ).scalar_one()
        return stored.decode()


HAS_ACCOUNT = select(users.c.id).where(users.c.disabled_at.is_(None)).limit(1)


def finish_setup(connection: Connection, database: Path) -> None:
    """The first account is made: the token is void, also if all accounts are deleted later."""
    connection.execute(delete(meta).where(meta.c.key == TOKEN_KEY))
    note_accounts(database)


def forget_deleted_accounts(connection: Connection, database: Path) -> None:
    """The last account was deleted by its owner, so nothing was lost."""
    if connection.scalar(select(func.count()).select_from(users)) == 0:
        _marker(database).unlink(missing_ok=True)


def had_accounts(database: Path) -> bool:
    return _marker(database).exists()


def note_accounts(database: Path) -> None:
    if not had_accounts(database):
        with os.fdopen(os.open(_marker(database), os.O_WRONLY | os.O_CREAT, 0o600), "w") as marker:
            marker.write(NOTE)


def _marker(database: Path) -> Path:
    return database.with_name(MARKER)
