"""Makes an empty file a database, and upgrades one to the newest schema, or raises StoreDown."""

import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, text

from hitsend.errors import StoreDown
from hitsend.store.database import Database
from hitsend.store.prepared import driver_of
from hitsend.store.schema import HEAD

NEW_DATABASE = Path(__file__).with_name("new_database.sql")
"""What the migrations make of an empty file. Running them all would take a quarter of a second, and
14 MB of memory that the process keeps. `scripts/record_schema.py` writes it; where it is older than
the newest migration, that one runs after it."""


async def migrate(database: Database) -> None:
    await database.migrate(partial(_migrate, path=database.path))


def _migrate(connection: Connection, path: Path) -> None:
    version = _version(connection, path)
    if version is None:
        _create_tables(connection)
        version = _version(connection, path)
    if version != HEAD:
        _upgrade(connection, path, version)


def _version(connection: Connection, path: Path) -> str | None:
    """Returns None for an empty file."""
    tables = set(connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")))
    if not tables:
        return None
    if not {"alembic_version", "turn_events"} <= tables:
        raise StoreDown(f"{path} is a database, but not one of hitsend's.")
    version: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return version


def _create_tables(connection: Connection) -> None:
    driver = driver_of(connection)
    for statement in _split_statements(NEW_DATABASE.read_text(encoding="utf-8")):
        driver.execute(statement)


def _split_statements(script: str) -> Iterator[str]:
    """`executescript` would commit the transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _upgrade(connection: Connection, path: Path, version: str | None) -> None:
    # Imported here, because it takes a quarter of a second and nearly no start needs it.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "hitsend.store:migrations")
    config.set_main_option("path_separator", "os")
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StoreDown(
            f"{path} was last used by a newer hitsend (schema {version}, this one knows {HEAD}). "
            "Run that one again, or a newer one."
        ) from error
