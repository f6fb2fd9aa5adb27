"""A backup is one state of the database, whole, and what is restored from it is that state."""

import asyncio
import hashlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from scripts.record_schema import SCHEMAS, load_dump

from hitsend.errors import HitsendError, NotFound, Refused, StoreDown
from hitsend.store import NewTurn, Store, User
from hitsend.store.audit_file import read_entries, verify_audit
from hitsend.store.backup import check_backup, copy_database, make_backup
from hitsend.store.restore import restore_backup
from hitsend.store.schema import HEAD

Ask = Callable[..., Coroutine[None, None, NewTurn]]


def ignore(_: float) -> None:
    """Nobody watches the progress."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups" / "monday"


@pytest.fixture
async def database(store: Store, ada: User, ask: Ask, folder: Path) -> Path:
    """A database that is in use, with an account and a message."""
    await ask(ada, "Why does bread rise?", title="bread")
    folder.parent.mkdir()
    return store._database.path


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    (tmp_path / "fresh").mkdir()
    return tmp_path / "fresh" / "hitsend.db"


async def titles(path: Path, user: User) -> list[str]:
    store = await Store.open(path)
    try:
        page = await store.conversations.list(user.id)
        return [one.title for one in page.items]
    finally:
        await store.close()


async def test_what_was_backed_up_is_restored(
    database: Path, folder: Path, fresh: Path, ada: User
) -> None:
    made = make_backup(database, folder, None, ignore)
    assert made == check_backup(folder) == await restore_backup(folder, fresh)
    assert made.counts == {"users": 1, "conversations": 1, "messages": 2, "turns": 1}
    assert made.schema == HEAD
    assert await titles(fresh, ada) == ["bread"]
    assert [path.name for path in fresh.parent.iterdir()] == ["hitsend.db"]


def read_modes(*paths: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in paths}


async def test_only_the_owner_may_read_a_backup_and_what_is_restored(
    database: Path, folder: Path, fresh: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text('engine_key = "secret"')
    settings.chmod(0o644)
    make_backup(database, folder, settings, ignore)
    await restore_backup(folder, fresh)
    modes = read_modes(folder, folder / "config.toml", folder / "backup.json", fresh)
    assert read_modes(folder / "hitsend.db") == {"hitsend.db": 0o600}
    names = "monday", "hitsend.db", "backup.json", "config.toml"
    assert modes == dict.fromkeys(names, 0o600) | {"monday": 0o700}
    assert (folder / "config.toml").read_text() == 'engine_key = "secret"'


async def test_a_backup_is_one_state_while_others_write(
    store: Store, ada: User, ask: Ask, database: Path, folder: Path
) -> None:
    """A message and its conversation are one transaction: neither is in a backup alone."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE padding AS SELECT zeroblob(30000000) AS bytes")
    copying = asyncio.create_task(asyncio.to_thread(make_backup, database, folder, None, ignore))
    num_asked = 1
    while not copying.done():
        await ask(ada, "And cake?")
        num_asked += 1
    made = await copying
    assert num_asked > made.counts["turns"] > 0, "messages were sent while it was made"
    assert made.counts["messages"] == 2 * made.counts["conversations"] == 2 * made.counts["turns"]


async def test_a_copy_is_not_begun_anew_by_each_write(
    store: Store, ada: User, ask: Ask, database: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE padding AS SELECT zeroblob(30000000) AS bytes")
    shares: list[float] = []
    loop = asyncio.get_running_loop()

    def write_meanwhile(share: float) -> None:
        asyncio.run_coroutine_threadsafe(ask(ada, "And cake?"), loop).result()
        shares.append(share)

    await asyncio.to_thread(copy_database, database, tmp_path / "copy", write_meanwhile)
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert shares[-1] == 1


async def test_no_backup_is_overwritten(database: Path, folder: Path) -> None:
    make_backup(database, folder, None, ignore)
    before = hashlib.sha256((folder / "hitsend.db").read_bytes()).digest()
    with pytest.raises(Refused, match="is there already"):
        make_backup(database, folder, None, ignore)
    assert hashlib.sha256((folder / "hitsend.db").read_bytes()).digest() == before
    assert [path.name for path in folder.parent.iterdir()] == ["monday"]


async def test_there_has_to_be_a_database_and_a_place_for_the_backup(
    database: Path, folder: Path
) -> None:
    with pytest.raises(NotFound, match="There is no database"):
        make_backup(database.with_name("other.db"), folder, None, ignore)
    with pytest.raises(StoreDown, match="No such file or directory"):
        make_backup(database, folder / "deeper" / "still", None, ignore)
    assert list(folder.parent.iterdir()) == []


def damage(path: Path) -> None:
    """Overwrites pages in the middle of the file."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(os.urandom(size // 4))


async def test_no_backup_of_a_damaged_database_is_kept(
    store: Store, database: Path, folder: Path
) -> None:
    await store.close()
    damage(database)
    with pytest.raises(StoreDown, match="is damaged"):
        make_backup(database, folder, None, ignore)
    assert list(folder.parent.iterdir()) == []


async def check_refusal(folder: Path, fresh: Path, error: type[HitsendError], match: str) -> None:
    with pytest.raises(error, match=match):
        check_backup(folder)
    with pytest.raises(error, match=match):
        await restore_backup(folder, fresh)
    assert list(fresh.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["hitsend.db", "config.toml"])
async def test_a_changed_or_missing_file_is_found(
    database: Path, folder: Path, fresh: Path, tmp_path: Path, name: str
) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("port = 1")
    make_backup(database, folder, settings, ignore)
    with (folder / name).open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    await check_refusal(folder, fresh, StoreDown, f"{name} is not as it was made")
    (folder / name).unlink()
    await check_refusal(folder, fresh, StoreDown, f"{name} is missing")


@pytest.mark.parametrize(
    ("content", "error", "match"),
    [
        (None, NotFound, "is no backup"),
        (b"{", StoreDown, "is damaged"),
        (b"[]", StoreDown, "is damaged"),
        (b"\xff", StoreDown, "is damaged"),
    ],
)
async def test_a_list_that_is_broken_or_missing_is_refused(
    database: Path,
    folder: Path,
    fresh: Path,
    content: bytes | None,
    error: type[HitsendError],
    match: str,
) -> None:
    make_backup(database, folder, None, ignore)
    (folder / "backup.json").unlink()
    if content is not None:
        (folder / "backup.json").write_bytes(content)
    await check_refusal(folder, fresh, error, match)


async def test_a_list_may_name_no_file_elsewhere(database: Path, folder: Path, fresh: Path) -> None:
    make_backup(database, folder, None, ignore)
    path = folder / "backup.json"
    listed = msgspec.json.decode(path.read_bytes())
    no_files: dict[str, object] = {}
    for files in (no_files, listed["files"] | {"../../etc/passwd": listed["files"]["hitsend.db"]}):
        path.write_bytes(msgspec.json.encode(listed | {"files": files}))
        await check_refusal(folder, fresh, StoreDown, "does not name the files of a backup")
    path.write_bytes(msgspec.json.encode(listed | {"format": 2, "hitsend": "9.9"}))
    await check_refusal(folder, fresh, Refused, "another hitsend \\(9.9\\)")


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
async def test_nothing_is_restored_over_a_database_or_its_log(
    database: Path, folder: Path, fresh: Path, end: str
) -> None:
    make_backup(database, folder, None, ignore)
    there = fresh.with_name(fresh.name + end)
    there.write_text("mine")
    with pytest.raises(Refused, match="is there already, and nothing was changed"):
        await restore_backup(folder, fresh)
    assert [path.name for path in fresh.parent.iterdir()] == [there.name]
    assert there.read_text() == "mine"


async def test_a_restore_that_was_killed_is_no_database_and_can_be_repeated(
    database: Path, folder: Path, fresh: Path, ada: User
) -> None:
    make_backup(database, folder, None, ignore)
    for end in ("", "-wal", "-shm"):
        fresh.with_name(fresh.name + ".restoring" + end).write_text("half")
    await restore_backup(folder, fresh)
    assert [path.name for path in fresh.parent.iterdir()] == ["hitsend.db"]
    assert await titles(fresh, ada) == ["bread"]


RESTORE = """
import asyncio, resource, signal, sys
from pathlib import Path
from hitsend.errors import HitsendError
from hitsend.store.restore import restore_backup
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    asyncio.run(restore_backup(Path(sys.argv[1]), Path(sys.argv[2])))
except HitsendError as error:
    sys.exit(error.message)
"""


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
async def test_a_full_disk_leaves_nothing_half_restored(
    database: Path, folder: Path, fresh: Path, share: float
) -> None:
    made = make_backup(database, folder, None, ignore)
    room = int(made.files["hitsend.db"].num_bytes * share)
    ran = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", RESTORE, str(folder), str(fresh), str(room)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": "src"},
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    assert "Traceback" not in ran.stderr
    assert list(fresh.parent.iterdir()) == []


async def test_sessions_of_then_are_over_and_the_activity_log_says_why(
    store: Store, ada: User, database: Path, folder: Path, fresh: Path
) -> None:
    await store.accounts.open_session(ada.id, "t", user_agent="", expires_at=time.time() + 3600)
    made = make_backup(database, folder, None, ignore)
    await restore_backup(folder, fresh)
    restored = await Store.open(fresh)
    assert await restored.accounts.find_by_session("t") is None
    await restored.close()
    entry = list(read_entries(fresh))[-1]
    assert type(entry.event).__name__ == "BackupRestored"
    assert msgspec.structs.asdict(entry.event) == {"made_at": made.created_at}
    assert verify_audit(fresh).problem is None


async def test_the_database_knows_when_it_was_backed_up(store: Store) -> None:
    assert await store.backups.newest_at() is None
    await store.backups.record_backup()
    assert await store.backups.newest_at() == 1_000_000.0
    (entry,) = await store.audit.list(1)
    assert type(entry.event).__name__ == "BackupMade"


@pytest.mark.parametrize("schema", sorted(path.stem for path in SCHEMAS.glob("*.sql")))
async def test_a_backup_of_every_released_schema_is_restored_and_upgraded(
    tmp_path: Path, fresh: Path, schema: str
) -> None:
    path = tmp_path / "old.db"
    load_dump(SCHEMAS / f"{schema}.sql", path)
    made = make_backup(path, tmp_path / "backup", None, ignore)
    assert made.schema == schema[:4]
    await restore_backup(tmp_path / "backup", fresh)
    with closing(sqlite3.connect(fresh)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (6,)


async def test_a_backup_of_a_newer_schema_is_refused(
    store: Store, database: Path, folder: Path, fresh: Path
) -> None:
    await store.close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    make_backup(database, folder, None, ignore)
    with pytest.raises(StoreDown, match="newer hitsend"):
        await restore_backup(folder, fresh)
    assert list(fresh.parent.iterdir()) == []
