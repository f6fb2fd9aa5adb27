"""The migrations create the tables that the code declares, and a new database has the same."""

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from hitsend.store import Store
from hitsend.store.schema import HEAD, metadata


async def test_migrations_and_schema_make_the_same_tables(tmp_path: Path) -> None:
    migrated, declared = tmp_path / "migrated.db", tmp_path / "declared.db"
    await (await Store.open(migrated)).close()
    engine = create_engine(f"sqlite:///{declared}")
    metadata.create_all(engine)
    engine.dispose()
    assert read_shape(migrated) == read_shape(declared)


def test_the_newest_migration_is_the_one_the_code_knows() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == HEAD


async def test_a_new_database_is_what_all_migrations_make(tmp_path: Path) -> None:
    migrated, made = tmp_path / "migrated.db", tmp_path / "made.db"
    engine = create_engine(f"sqlite:///{migrated}")
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    engine.dispose()
    await (await Store.open(made)).close()
    assert read_statements(made) == read_statements(migrated), "run scripts/record_schema.py"


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", "hitsend.store:migrations")
    config.set_main_option("path_separator", "os")
    return config


def read_statements(path: Path) -> set[tuple[str, str | None]]:
    """The statements that made its tables, indexes and triggers."""
    with closing(sqlite3.connect(path)) as connection:
        return set(connection.execute("SELECT name, sql FROM sqlite_master"))


def read_shape(path: Path) -> dict[str, object]:
    connection = sqlite3.connect(path)
    try:
        return {name: _table(connection, name) for name in metadata.tables}
    finally:
        connection.close()


def _table(connection: sqlite3.Connection, name: str) -> object:
    facts = f"PRAGMA table_list({name})", f"PRAGMA table_xinfo({name})"
    keys = connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()
    indexes = connection.execute(f"PRAGMA index_list({name})").fetchall()
    return (
        [connection.execute(fact).fetchall() for fact in facts],
        sorted(key[2:] for key in keys),
        sorted((index[2:], _index(connection, index[1])) for index in indexes),
    )


def _index(connection: sqlite3.Connection, name: str) -> object:
    made = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    columns = connection.execute(f"PRAGMA index_info('{name}')").fetchall()
    return [column[2] for column in columns], [sql for (sql,) in made if sql]
