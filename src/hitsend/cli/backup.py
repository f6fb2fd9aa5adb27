"""`hitsend backup` and `hitsend restore`: all data, in a folder that can be kept elsewhere."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note
from hitsend.errors import HitsendError
from hitsend.server.data_dir_lock import lock_data_dir
from hitsend.settings import Loaded, Settings, settings_file
from hitsend.store import Store
from hitsend.store.backup import DATABASE, SETTINGS, Manifest, check_backup, make_backup
from hitsend.store.restore import restore_backup
from hitsend.store.schema import HEAD

NICENESS = 10
"""Running answers go first."""
MB = 1_000_000


@with_settings("data_dir")
def backup(
    loaded: Loaded,
    folder: Annotated[Path, Parameter(help="A folder that does not exist yet.")],
    /,
) -> int:
    os.nice(NICENESS)
    settings, given = loaded.settings, settings_file()
    made = make_backup(
        settings.database, folder, given if given.is_file() else None, _show_progress
    )
    print_note(f"{folder} is whole: {_describe(made)}")
    if made.schema == HEAD:  # else opening the database would upgrade it
        asyncio.run(_record_backup(settings))
    return 0


@with_settings("data_dir")
def restore(
    loaded: Loaded,
    folder: Annotated[Path, Parameter(help="What `hitsend backup` made.")],
    /,
    *,
    check: Annotated[
        bool, Parameter(negative="", help="Only check the backup. Changes nothing.")
    ] = False,
) -> int:
    if check:
        print_note(f"{folder} is whole: {_describe(check_backup(folder))}")
        return 0
    settings = loaded.settings
    with lock_data_dir(settings.data_dir):
        restored = asyncio.run(restore_backup(folder, settings.database))
    print_note(f"Restored into {settings.data_dir}: {_describe(restored)}")
    print_note("Everyone has to sign in again. Passwords, API keys and links are those of then.")
    if SETTINGS in restored.files:
        print_note(f"The settings of then are in {folder / SETTINGS}: copy what still applies.")
    return 0


async def _record_backup(settings: Settings) -> None:
    try:
        store = await Store.open(settings.database, settings.sync)
        try:
            await store.backups.record_backup()
        finally:
            await store.close()
    except HitsendError as error:
        print_note(f"The database could not record it: {error.message}")


def _show_progress(share: float) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{share:4.0%} " if share < 1 else "\r     \r")
        sys.stderr.flush()


def _describe(manifest: Manifest) -> str:
    counts = ", ".join(f"{count:,} {name}" for name, count in manifest.counts.items())
    size = manifest.files[DATABASE].num_bytes / MB
    return f"{counts}; {size:,.1f} MB, made at {manifest.created_at}, schema {manifest.schema}."
