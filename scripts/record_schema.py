"""Record a new migration: its hash, a dump of the schema it makes, with rows, and one without.

A migration that has landed is never edited, and every released schema upgrades: the tests of
tests/unit/store/test_released_schemas.py hold both. Run this after adding a migration. It upgrades
the newest recorded schema and dumps the result beside it. Add rows of new tables by hand. The
schema alone goes into the package: new databases are made from it.
"""

import asyncio
import hashlib
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from hitsend.store import Store
from hitsend.store.migrate import NEW_DATABASE
from hitsend.store.schema import HEAD

ROOT = Path(__file__).parent.parent
MIGRATIONS = ROOT / "src" / "hitsend" / "store" / "migrations" / "versions"
SCHEMAS = ROOT / "tests" / "unit" / "store" / "schemas"
HASHES = SCHEMAS / "migration_hashes.json"


def main() -> None:
    recorded = read_hashes()
    found = hash_migrations()
    if edited := list_edited(recorded, found):
        sys.exit(f"Never edit a migration that has landed: {', '.join(edited)}. Add another one.")
    HASHES.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    target = SCHEMAS / f"{HEAD}.sql"
    older = [path for path in sorted(SCHEMAS.glob("*.sql")) if path.stem < HEAD]
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "hitsend.db"
        load_dump(older[-1], database)
        asyncio.run(upgrade(database))
        target.write_text(dump(database))
        NEW_DATABASE.write_text(dump_schema(database))
    print(f"Wrote {HASHES.name}, {target.name} and {NEW_DATABASE.name}.")


def hash_migrations() -> dict[str, str]:
    return {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(MIGRATIONS.glob("revision_*.py"))
    }


def list_edited(recorded: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Leaves out the newest, which may change until it has landed."""
    return [
        name
        for name in recorded
        if name != f"revision_{HEAD}" and recorded[name] != found.get(name)
    ]


def read_hashes() -> Mapping[str, str]:
    return msgspec.json.decode(HASHES.read_bytes(), type=dict[str, str]) if HASHES.exists() else {}


def load_dump(dumped: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dumped.read_text())


async def upgrade(path: Path) -> None:
    await (await Store.open(path)).close()


def dump(path: Path) -> str:
    """Returns SQL that makes the database again: its schema as it is written in the file, then its
    rows. Triggers come before rows, so they fill the search index."""
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(_lines(connection)) + "\n"


def dump_schema(path: Path) -> str:
    """Returns the statements that make an empty database of this schema."""
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join([*_objects(connection), *_rows(connection, "alembic_version", "1")]) + "\n"


def _objects(connection: sqlite3.Connection) -> Iterator[str]:
    tables = connection.execute("PRAGMA table_list").fetchall()
    shadows = {name for _, name, kind, *_ in tables if kind == "shadow"}
    objects = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'trigger', rowid"
    )
    return (f"{sql};" for name, sql in objects if name not in shadows)


def _lines(connection: sqlite3.Connection) -> Iterator[str]:
    tables = connection.execute("PRAGMA table_list").fetchall()
    yield "PRAGMA foreign_keys = OFF;"
    yield "BEGIN;"
    yield from _objects(connection)
    for _, name, kind, _, is_without_rowid, _ in sorted(tables):
        if kind == "table" and not name.startswith("sqlite_"):
            yield from _rows(connection, name, "1" if is_without_rowid else "rowid")
    yield "COMMIT;"


def _rows(connection: sqlite3.Connection, table: str, order: str) -> Iterator[str]:
    names = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    values = " || ', ' || ".join(f'quote("{name}")' for name in names)
    columns = ", ".join(names)
    for (row,) in connection.execute(f'SELECT {values} FROM "{table}" ORDER BY {order}'):
        yield f'INSERT INTO "{table}" ({columns}) VALUES ({row});'


if __name__ == "__main__":
    main()
