"""Brings the database to the schema this code knows, or says why it cannot."""

from pathlib import Path

from sqlalchemy import Connection, text

from hitsend.errors import StoreDown
from hitsend.store.database import Database
from hitsend.store.schema import HEAD


async def migrate(database: Database) -> None:
    async with database.write() as connection:
        version = await connection.run_sync(_version, database.path)
        if version != HEAD:
            await connection.run_sync(_upgrade, database.path, version)


def _version(connection: Connection, path: Path) -> str | None:
    """None where there is nothing yet."""
    tables = set(connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")))
    if not tables:
        return None
    if not {"alembic_version", "turn_events"} <= tables:
        raise StoreDown(f"{path} is a database, but not one of hitsend's.")
    version: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return version


def _upgrade(connection: Connection, path: Path, version: str | None) -> None:
    # Alembic takes a quarter of a second to import, and nearly every start needs none of it.
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
