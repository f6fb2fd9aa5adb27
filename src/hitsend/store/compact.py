"""Rewrites the database file without free pages, so that later ones can be given back."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from hitsend.errors import StoreDown
from hitsend.store.database import explain


def compact(path: Path) -> None:
    """Nothing else may have the database open. Takes as much room again while it runs."""
    os.environ["SQLITE_TMPDIR"] = str(path.parent)  # /tmp may be small, or memory
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error as error:
        raise explain(error) or StoreDown(f"{path} could not be compacted: {error}.") from error
