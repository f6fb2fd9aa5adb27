"""How much each person stores: the messages and the logs of their turns.

A turn is counted when its log is packed, some seconds after it has finished.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, func, select

from hitsend.store.database import Database, reads
from hitsend.store.schema import turns

NUM_BYTES = func.sum(turns.c.num_bytes)


class Storage:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def used_by(self, connection: Connection, user_id: str) -> int:
        query = select(NUM_BYTES).where(turns.c.user_id == user_id)
        return connection.scalar(query) or 0

    @reads
    def by_user(self, connection: Connection) -> Mapping[str, int]:
        """Returns the bytes of everyone who has any."""
        query = select(turns.c.user_id, NUM_BYTES).group_by(turns.c.user_id)
        return {user_id: num_bytes or 0 for user_id, num_bytes in connection.execute(query)}

    async def give_back_space(self) -> bool:
        """Gives some free space of the file back to the disk, if there is much."""
        return await self._database.give_back_space()
