"""How the words of what was erased leave the index of the search.

FTS5 only notes beside the words of a row that it is gone. Both go when the pieces of the index
that hold them are merged. A mark that a trigger sets says that there is something to drop.
"""

from sqlalchemy import Insert, column, delete, func, insert, select, table

from hitsend.store.database import Database
from hitsend.store.schema import meta

INDEXES = "message_search", "title_search"
HAS_ERASED = meta.c.key == "search_has_erased"
MOST_PAGES = 64
"""Of one portion. To write them takes a hundredth of a second."""
REST = 20
"""So many times as long as it took: all of an index is written anew, however little is dropped."""


class SearchIndex:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._rests_until = 0.0

    async def drop_erased(self) -> None:
        """Looks first: most of the time nothing was erased. What is erased meanwhile sets another
        mark, and waits for the next time."""
        begun_at = self._database.now()
        async with self._database.read() as connection:
            mark = await connection.scalar(select(meta.c.value).where(HAS_ERASED))
        if mark is None or begun_at < self._rests_until:
            return
        for name in INDEXES:
            await self._merge(name)
        if await self._database.empty_log():
            async with self._database.write() as connection:
                await connection.execute(delete(meta).where(HAS_ERASED, meta.c.value == mark))
        now = self._database.now()
        self._rests_until = now + REST * (now - begun_at)

    async def _merge(self, name: str) -> None:
        """Portion by portion, until all that was there is one piece."""
        num_changes = await self._merge_some(name, -MOST_PAGES)
        # The command itself counts as one.
        while num_changes > 1:
            num_changes = await self._merge_some(name, MOST_PAGES)

    async def _merge_some(self, name: str, num_pages: int) -> int:
        """Below zero it begins with every piece there is, else it goes on with what was begun.
        How many rows were changed."""
        counted = select(func.total_changes())
        async with self._database.write() as connection:
            before = (await connection.execute(counted)).scalar_one()
            await connection.execute(_merging(name, num_pages))
            return int((await connection.execute(counted)).scalar_one()) - int(before)


def _merging(name: str, num_pages: int) -> Insert:
    index = table(name, column(name), column("rank"))
    return insert(index).values({name: "merge", "rank": num_pages})
