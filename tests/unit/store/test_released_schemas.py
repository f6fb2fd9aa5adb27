"""A migration that has landed is never edited, and every schema a release had upgrades whole.

`schemas/` holds a dump of each schema as it was first made, with rows. Revisions 0001, 0003 and
0005 were edited after they had landed: each of their forms has a dump (`0001_b`, …), and `0005_b`
is a database that was upgraded to the first form of each. `scripts/record_schema.py` adds new ones.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from scripts.record_schema import (
    MIGRATIONS,
    SCHEMAS,
    hash_migrations,
    list_edited,
    load_dump,
    read_hashes,
)
from tests.unit.store.test_schema import read_shape

from hitsend.store import Store
from hitsend.store.schema import HEAD

RELEASED = sorted(path.stem for path in SCHEMAS.glob("*.sql"))

Rows = dict[str, list[dict[str, object]]]


def test_no_migration_that_landed_was_edited() -> None:
    assert hash_migrations() == read_hashes(), (
        "Add a migration and run scripts/record_schema.py; never edit one."
    )


def test_every_revision_has_a_recorded_schema() -> None:
    revisions = {path.stem.removeprefix("revision_") for path in MIGRATIONS.glob("revision_*.py")}
    assert {name[:4] for name in RELEASED} == revisions
    assert HEAD in revisions


@pytest.fixture(params=RELEASED)
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "released" / "hitsend.db"
    path.parent.mkdir()
    load_dump(SCHEMAS / f"{request.param}.sql", path)
    return path


async def test_every_released_schema_upgrades_with_all_its_rows(
    released: Path, empty_database: Path
) -> None:
    before = _read_rows(released)
    assert len(before["messages"]) == 6
    await (await Store.open(released)).close()
    after = _read_rows(released)
    for table in before.keys() - {"alembic_version", "meta", "audit"}:
        kept = before[table][0].keys() & after[table][0].keys() if before[table] else set()
        assert _narrow(after[table], kept) == _narrow(before[table], kept), table
    assert {"epoch", "secret:csrf"} <= {row["key"] for row in after["meta"]}
    assert read_shape(released) == read_shape(empty_database)
    assert _triggers(released) == _triggers(empty_database)
    with closing(sqlite3.connect(released)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


async def test_an_upgraded_database_is_used_like_a_new_one(released: Path) -> None:
    store = await Store.open(released)
    try:
        shown = await store.conversations.get("bread", "ada")
        assert [message.text for message in shown.messages] == [
            "Why does bread rise?",
            "Yeast makes gas.",
        ]
        failed = await store.conversations.get("eves", "eve")
        assert failed.messages[-1].status == "failed"
        assert len(await store.turns.events("z turn", "ada")) == 7
        assert (await store.conversations.search("ada", "grunen tee")).total == 1
        assert (await store.conversations.search("eve", "yeast")).total == 0
        assert await store.turns.find_newest("tea", "ada") == "m turn"
        await store.conversations.delete("bread", "ada")
        assert (await store.conversations.search("ada", "yeast")).total == 0
    finally:
        await store.close()


@pytest.mark.parametrize("name", [name for name in RELEASED if name >= "0005"])
async def test_a_memory_from_before_duplicates_were_found_is_found_as_one(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "hitsend.db"
    load_dump(SCHEMAS / f"{name}.sql", path)
    store = await Store.open(path)
    try:
        again = await store.memories.add("ada", "i BAKE on STRASSE no5", "asked")
        assert again.id == "m1"
        assert (await store.memories.list("ada")).total == 2
    finally:
        await store.close()


def test_recording_refuses_an_edited_or_missing_migration() -> None:
    recorded = {"revision_0001": "a", "revision_0002": "b", f"revision_{HEAD}": "c"}
    found = {"revision_0001": "edited", f"revision_{HEAD}": "still changing"}
    assert list_edited(recorded, found) == ["revision_0001", "revision_0002"]


def _read_rows(path: Path) -> Rows:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = connection.execute("PRAGMA table_list").fetchall()
        names = [
            name
            for _, name, kind, *_ in tables
            if kind in ("table", "virtual") and not name.startswith("sqlite_")
        ]
        return {
            name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')]
            for name in names
        }


def _narrow(rows: list[dict[str, object]], names: set[str]) -> list[object]:
    return sorted((sorted((name, repr(row[name])) for name in names) for row in rows), key=repr)


def _triggers(path: Path) -> list[object]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        ).fetchall()
