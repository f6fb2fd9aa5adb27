"""Removes the words of deleted messages and titles from the full-text index.

FTS5 only marks the words of a deleted row as deleted; both disappear when the segments that hold
them are merged. A trigger sets a flag in `meta` when a merge is needed.
"""

from sqlalchemy import Connection, Insert, column, delete, func, insert, select, table

from hitsend.store.database import Database, writes
from hitsend.store.schema import meta

INDEXES = "message_search", "title_search"
HAS_ERASED = meta.c.key == "search_has_erased"
MAX_MERGE_PAGES = 64
"""Pages written in one transaction, which takes a hundredth of a second."""
PAUSE_FACTOR = 20
"""The next merge waits this many times as long as the last one took: every merge rewrites the
whole index, however little was deleted."""


class SearchIndex:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._paused_until = 0.0

    async def drop_erased(self) -> None:
        """Reads first, because usually nothing was deleted. A deletion during the merge sets a
        different flag, which the next call handles."""
        started_at = self._database.now()
        query = select(meta.c.value).where(HAS_ERASED)
        flag = await self._database.read(lambda connection: connection.scalar(query))
        if flag is None or started_at < self._paused_until:
            return
        for name in INDEXES:
            await self._merge(name)
        if await self._database.truncate_wal():
            clear = delete(meta).where(HAS_ERASED, meta.c.value == flag)
            await self._database.write(lambda connection: connection.execute(clear).close())
        now = self._database.now()
        self._paused_until = now + PAUSE_FACTOR * (now - started_at)

    async def _merge(self, name: str) -> None:
        """Merges all segments into one, in small transactions."""
        num_changes = await self._merge_pages(name, -MAX_MERGE_PAGES)
        # The command itself counts as one change.
        while num_changes > 1:
            num_changes = await self._merge_pages(name, MAX_MERGE_PAGES)

    @writes
    def _merge_pages(self, connection: Connection, name: str, num_pages: int) -> int:
        """Returns the number of rows changed. A negative number of pages starts a merge of all
        segments; a positive one continues it."""
        count = select(func.total_changes())
        before = connection.execute(count).scalar_one()
        connection.execute(_merge_command(name, num_pages))
        return int(connection.execute(count).scalar_one()) - int(before)


def _merge_command(name: str, num_pages: int) -> Insert:
    index = table(name, column(name), column("rank"))
    return insert(index).values({name: "merge", "rank": num_pages})
