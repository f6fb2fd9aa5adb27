"""Finds damage in a database file: pages or indexes that do not fit together.

SQLite notices damage only where it reads. A file that is damaged elsewhere is served, and written
to, for weeks, while every backup of it is damaged too.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hitsend.errors import StoreDown
from hitsend.store.database import BUSY_TIMEOUT, explain

STEPS_BETWEEN_LOOKS = 20_000
"""Steps of SQLite's machine, some milliseconds, after which the time limit is looked at."""
WHAT_TO_DO = (
    "Move it away and restore a backup with `hitsend restore`; without one, `sqlite3 FILE "
    ".recover` saves what can be read. See docs/hosting.md, Backups."
)


class CheckUnfinished(Exception):
    """The time limit was reached before the whole file had been read."""


def check_quickly(path: Path, limit_s: float | None = None) -> None:
    """Checks the pages of the file, as fast as they can be read: a second or two per gigabyte.
    Raises StoreDown if it is damaged, and CheckUnfinished."""
    with open_file(path) as connection:
        if limit_s is not None:
            ends = time.monotonic() + limit_s
            connection.set_progress_handler(lambda: time.monotonic() > ends, STEPS_BETWEEN_LOOKS)
        _raise_if_damaged(connection, path, "quick_check")


def check_fully(path: Path) -> None:
    """Also checks that every index has its rows, and every reference its target. Takes some times
    as long."""
    with open_file(path) as connection:
        _raise_if_damaged(connection, path, "integrity_check")
        if broken := connection.execute("PRAGMA foreign_key_check").fetchone():
            raise _damaged(path, f"a row of {broken[0]} refers to one of {broken[2]} that is gone")


@contextmanager
def open_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Yields a connection that only reads, whether a server runs or not. Raises StoreDown and
    CheckUnfinished in place of SQLite's errors."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.execute(BUSY_TIMEOUT)
            yield connection
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise CheckUnfinished from None
        raise _explain(error, path) from error
    except sqlite3.Error as error:
        raise _explain(error, path) from error


def _raise_if_damaged(connection: sqlite3.Connection, path: Path, check: str) -> None:
    (verdict,) = connection.execute(f"PRAGMA {check}(1)").fetchone()
    if verdict != "ok":
        raise _damaged(path, " ".join(str(verdict).replace("***", "").split()))


def _explain(error: sqlite3.Error, path: Path) -> StoreDown:
    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
        return _damaged(path, str(error))
    return explain(error) or StoreDown(f"{path} cannot be read: {error}.")


def _damaged(path: Path, what: str) -> StoreDown:
    return StoreDown(f"The database {path} is damaged ({what}). {WHAT_TO_DO}")
