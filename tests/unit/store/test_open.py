"""Opening a new database, an old one, and files that must not be changed."""

import sqlite3
import stat
import time
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from hitsend.errors import StoreDown
from hitsend.store import Store
from hitsend.store.database import Database


async def test_only_its_owner_may_read_a_new_database_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "data" / "hitsend.db"
    store = await Store.open(path)
    await store.check()
    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    await store.close()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert set(files.values()) == {0o600}
    assert "hitsend.db" in files


async def test_stored_rows_are_there_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    first = await Store.open(path)
    user = await first.accounts.create_first("Ada", "hash")
    secret = await first.secret("csrf")
    await first.close()
    again = await Store.open(path, "full")
    assert await again.accounts.list_users() == [user]
    assert await again.secret("csrf") == secret
    await again.close()


async def test_secrets_are_long_and_differ_by_name(store: Store) -> None:
    secrets = {await store.secret(name) for name in ("csrf", "resume", "csrf")}
    assert {len(secret) for secret in secrets} == {32}
    assert len(secrets) == 2


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    path.write_text("My diary. " * 500)
    with pytest.raises(StoreDown, match="not a database"):
        await Store.open(path)
    assert path.read_text().startswith("My diary.")


async def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    with pytest.raises(StoreDown, match="not one of hitsend's"):
        await Store.open(path)


async def test_a_database_of_a_newer_hitsend_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    await (await Store.open(path)).close()
    with sqlite3.connect(path) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.close()
    with pytest.raises(StoreDown, match="newer hitsend"):
        await Store.open(path)


async def test_a_path_that_cannot_be_a_file_raises_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreDown, match="cannot be opened"):
        await Store.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreDown, match="cannot be opened"):
        await Store.open(tmp_path / "file" / "hitsend.db")


async def test_a_closed_store_raises_a_clear_error(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "hitsend.db")
    await store.close()
    with pytest.raises(StoreDown, match="closed"):
        await store.check()
    with pytest.raises(StoreDown, match="closed"):
        await store.accounts.count_enabled()
    await store.close()


async def test_errors_do_not_contain_peoples_messages(tmp_path: Path) -> None:
    database = Database(tmp_path / "hitsend.db", "normal", time.time)
    await database.open()
    wrong, said = text("SELECT nothing FROM nowhere WHERE text = :said"), {"said": "canary"}
    for run in (database.read, database.write):
        with pytest.raises(DBAPIError) as failed:
            await run(lambda connection: connection.execute(wrong, said))
        assert "canary" not in str(failed.value)
    await database.close()
