"""Finds damage in a database file: pages or indexes that do not fit together.

SQLite notices damage only where it reads. A file that is damaged elsewhere is served, and written
to, for weeks, while every backup of it is damaged too.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hitsend.errors import DatabaseDamaged, StoreDown
from hitsend.store.database import BUSY_TIMEOUT, explain

WHAT_TO_DO = (
    "Move it away and restore a backup with `hitsend restore`; without one, `sqlite3 FILE "
    ".recover` saves what can be read. See docs/hosting.md, Backups."
)


def check_quickly(path: Path) -> None:
    """Checks every page of the file. Raises DatabaseDamaged."""
    with open_file(path) as connection:
        _raise_if_damaged(connection, path, "quick_check")


def check_fully(path: Path) -> None:
    """Also checks that every index has its rows, and every reference its target. Takes several
    times as long."""
    with open_file(path) as connection:
        _raise_if_damaged(connection, path, "integrity_check")
        if broken := connection.execute("PRAGMA foreign_key_check").fetchone():
            raise _damaged(path, f"a row of {broken[0]} refers to one of {broken[2]} that is gone")


@contextmanager
def open_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Yields a connection that only reads, whether a server runs or not. Raises StoreDown in place
    of SQLite's errors."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.execute(BUSY_TIMEOUT)
            yield connection
    except sqlite3.Error as error:
        raise _explain(error, path) from error


def _raise_if_damaged(connection: sqlite3.Connection, path: Path, check: str) -> None:
    (verdict,) = connection.execute(f"PRAGMA {check}(1)").fetchone()
    if verdict != "ok":
        raise _damaged(path, _describe(str(verdict)))


def _describe(verdict: str) -> str:
    return " ".join(verdict.replace("*** in database main ***", "").split())


def _explain(error: sqlite3.Error, path: Path) -> StoreDown:
    known = explain(error)
    if isinstance(known, DatabaseDamaged):
        return _damaged(path, str(error))
    return known or StoreDown(f"{path} cannot be read: {error}.")


def _damaged(path: Path, what: str) -> DatabaseDamaged:
    return DatabaseDamaged(f"The database {path} is damaged ({what}). {WHAT_TO_DO}")
