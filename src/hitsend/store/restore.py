"""Restores the database of a backup into a data directory that has none.

The database appears whole or not at all: it is copied under another name, checked, opened as a
server would, and renamed. A restore that was killed leaves a file that no server reads.
"""

from pathlib import Path

from hitsend.errors import Refused, StoreDown
from hitsend.store.backup import DATABASE, Manifest, check_backup, explain_file_errors
from hitsend.store.private_files import copy_private, flush
from hitsend.store.store import Store

ENDS = ("", "-wal", "-shm", "-journal")
"""SQLite's files. It would apply an old log to the restored database, and ruin it."""


async def restore_backup(folder: Path, database: Path) -> Manifest:
    """The caller holds the lock of the data directory. Raises Refused where there is a database,
    and StoreDown if the backup is not whole or cannot be copied."""
    for path in _files_of(database):
        if path.exists():
            raise _exists(path)
    manifest = check_backup(folder)
    partial = database.with_name(database.name + ".restoring")
    try:
        with explain_file_errors(partial):
            _remove(partial)  # left by a restore that was killed
            if copy_private(folder / DATABASE, partial) != manifest.files[DATABASE]:
                raise StoreDown(f"{folder / DATABASE} was changed while it was copied.")
        await _open_and_record(partial, manifest)
        with explain_file_errors(database):
            _put_in_place(partial, database)
    finally:
        _remove(partial)
    return manifest


async def _open_and_record(partial: Path, manifest: Manifest) -> None:
    """Upgrades an older schema. Raises StoreDown for a newer one."""
    store = await Store.open(partial, "full")
    try:
        await store.backups.finish_restore(manifest.created_at)
    finally:
        await store.close()  # writes the log into the file, and removes it
    for path in _files_of(partial)[1:]:
        if path.exists():
            raise StoreDown(f"Another program has {partial} open.")


def _put_in_place(partial: Path, database: Path) -> None:
    """A link, unlike a rename, never replaces a file."""
    try:
        database.hardlink_to(partial)
    except FileExistsError:
        raise _exists(database) from None
    except OSError:  # a file system without links
        partial.rename(database)
    flush(database)
    flush(database.parent)


def _files_of(database: Path) -> list[Path]:
    return [database.with_name(database.name + end) for end in ENDS]


def _remove(database: Path) -> None:
    for path in _files_of(database):
        path.unlink(missing_ok=True)


def _exists(path: Path) -> Refused:
    return Refused(
        f"{path} is there already, and nothing was changed. Move the whole folder {path.parent} "
        "away, or restore into another with --data-dir."
    )
