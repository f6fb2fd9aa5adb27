"""A backup: a folder with a copy of the database, the settings file, and a list of both.

It is made while a server runs, and has one state of the database. A backup is there whole or not at
all: it is put together under another name, checked, and renamed. `restore.py` reads it.
"""

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from hitsend import __version__
from hitsend.errors import NotFound, Refused, StoreDown
from hitsend.store.damage import check_fully, open_file
from hitsend.store.private_files import (
    FileFacts,
    copy_private,
    create_private,
    flush,
    hash_file,
    write_private,
)

MANIFEST, DATABASE, SETTINGS = "backup.json", "hitsend.db", "config.toml"
FORMAT = 1
PAGES_AT_ONCE = 1000
"""4 MB, between which others get the disk."""
REST_FACTOR = 0.25
"""After each portion, rests this many times as long as it took."""
COUNTED = ("users", "conversations", "messages", "turns")

Progress = Callable[[float], None]
"""Called with the share that is done, from 0 to 1."""


class Manifest(msgspec.Struct, frozen=True):
    """What is in a backup: `backup.json`."""

    format: int
    created_at: str
    hitsend: str
    """The version that made the backup."""
    schema: str
    counts: dict[str, int]
    """The rows of some tables."""
    audit_head: str
    """The newest entry of the activity log, for `hitsend audit verify --expect`."""
    files: dict[str, FileFacts]


def make_backup(
    database: Path, folder: Path, settings_file: Path | None, progress: Progress
) -> Manifest:
    """Copies the database into a new folder, and checks the copy. Raises Refused, NotFound and
    StoreDown, and then leaves nothing behind."""
    if not database.exists():
        raise NotFound(f"There is no database at {database}.")
    if folder.exists():
        raise _exists(folder)
    with explain_file_errors(folder), _partial_folder(folder) as partial:
        copy_database(database, partial / DATABASE, progress)
        check_fully(partial / DATABASE)
        if settings_file is not None:
            copy_private(settings_file, partial / SETTINGS)
        manifest = _describe(partial)
        write_private(partial / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
        for path in (*partial.iterdir(), partial):
            flush(path)
        _rename_folder(partial, folder)
    return manifest


def copy_database(database: Path, copy: Path, progress: Progress) -> None:
    """Copies one state of the database with SQLite's backup API, while others write."""
    create_private(copy).close()
    with open_file(database) as source, closing(sqlite3.connect(copy)) as target:
        # A transaction keeps the state: without it, each write of a server would start the copy
        # from the beginning.
        source.execute("BEGIN")
        source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        source.backup(target, pages=PAGES_AT_ONCE, progress=_Pace(progress).rest)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it


def check_backup(folder: Path) -> Manifest:
    """Raises StoreDown if a file is missing or was changed, or if the database is damaged."""
    manifest = _read_manifest(folder)
    for name, facts in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise StoreDown(f"The backup {folder} is not whole: {name} is missing.")
        if hash_file(path) != facts:
            raise StoreDown(f"The backup {folder} is damaged: {name} is not as it was made.")
    check_fully(folder / DATABASE)
    return manifest


@contextmanager
def explain_file_errors(path: Path) -> Iterator[None]:
    """Raises StoreDown in place of the system's errors."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreDown(f"{path} cannot be written: {error}.") from error
    except OSError as error:
        raise StoreDown(f"{error.filename or path}: {error.strerror}.") from error


class _Pace:
    """Rests between the portions of a copy."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._began = time.monotonic()

    def rest(self, _: int, num_left: int, num_pages: int) -> None:
        self._progress(1 - num_left / max(num_pages, 1))
        time.sleep(REST_FACTOR * (time.monotonic() - self._began))
        self._began = time.monotonic()


@contextmanager
def _partial_folder(folder: Path) -> Iterator[Path]:
    """Yields a new folder beside `folder`, and removes it unless it was renamed."""
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.absolute().parent))
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _rename_folder(partial: Path, folder: Path) -> None:
    try:
        partial.rename(folder)
    except OSError:
        if folder.exists():  # made meanwhile
            raise _exists(folder) from None
        raise
    flush(folder.absolute().parent)


def _exists(folder: Path) -> Refused:
    return Refused(f"{folder} is there already, and no backup is overwritten. Name a new folder.")


def _describe(folder: Path) -> Manifest:
    with open_file(folder / DATABASE) as connection:
        (schema,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        counts = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in COUNTED
        }
        head = connection.execute("SELECT value FROM meta WHERE key = 'audit_head'").fetchone()
    return Manifest(
        format=FORMAT,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        hitsend=__version__,
        schema=schema,
        counts=counts,
        audit_head=bytes(head[0]).decode() if head else "",
        files={path.name: hash_file(path) for path in sorted(folder.iterdir())},
    )


def _read_manifest(folder: Path) -> Manifest:
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except OSError as error:
        raise NotFound(f"{folder} is no backup: {MANIFEST}: {error.strerror}.") from None
    except msgspec.MsgspecError as error:
        raise StoreDown(f"{folder / MANIFEST} is damaged: {error}.") from None
    if manifest.format != FORMAT:
        raise Refused(f"{folder} is of another hitsend ({manifest.hitsend}): restore it with that.")
    if DATABASE not in manifest.files or manifest.files.keys() - {DATABASE, SETTINGS}:
        raise StoreDown(f"{folder / MANIFEST} does not name the files of a backup.")
    return manifest
