"""Space on the disk: how much each person stores, and giving free space back.

A person stores the messages and the logs of their turns, and files that tools made. A turn is
counted when its log is packed, some seconds after it has finished.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, func, select

from hitsend.errors import StoreDown
from hitsend.store.database import Database, explain, reads
from hitsend.store.schema import turns
from hitsend.store.tool_schema import tool_files

NUM_BYTES = func.sum(turns.c.num_bytes)
NUM_FILE_BYTES = func.sum(tool_files.c.num_bytes)


class Storage:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def used_by(self, connection: Connection, user_id: str) -> int:
        in_turns = select(NUM_BYTES).where(turns.c.user_id == user_id)
        in_files = select(NUM_FILE_BYTES).where(tool_files.c.user_id == user_id)
        return (connection.scalar(in_turns) or 0) + (connection.scalar(in_files) or 0)

    @reads
    def by_user(self, connection: Connection) -> Mapping[str, int]:
        """Returns the bytes of everyone who has any."""
        used: Counter[str] = Counter()
        for query in (
            select(turns.c.user_id, NUM_BYTES).group_by(turns.c.user_id),
            select(tool_files.c.user_id, NUM_FILE_BYTES).group_by(tool_files.c.user_id),
        ):
            for user_id, num_bytes in connection.execute(query):
                used[user_id] += num_bytes or 0
        return used

    async def give_back_space(self) -> bool:
        """Gives some free space of the file back to the disk, if there is much."""
        return await self._database.give_back_space()


def compact_file(path: Path) -> None:
    """Rewrites the database without free pages, so that later ones can be given back. Nothing else
    may have it open. Takes as much room again while it runs."""
    os.environ["SQLITE_TMPDIR"] = str(path.parent)  # /tmp may be small, or memory
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error as error:
        raise explain(error) or StoreDown(f"{path} could not be compacted: {error}.") from error
