"""Sums of used tokens. A running turn counts with its prompt only."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, cast, func, select

from hitsend.allowance import DAY_S
from hitsend.store.database import Database, reads
from hitsend.store.limit_rows import UsageRow
from hitsend.store.schema import ledger

DAY = cast(ledger.c.at / DAY_S, Integer)
"""Days since 1970, in UTC."""

MAX_TURN_TOKENS = 2**31
"""Earlier versions stored any count that an engine reported. SQLite refuses to add up larger
ones."""


def _sum(column: ColumnElement[int]) -> ColumnElement[int]:
    return func.sum(func.min(func.max(column, 0), MAX_TURN_TOKENS))


SUMS = (
    func.count(),
    _sum(ledger.c.num_input_tokens),
    _sum(ledger.c.num_cached_tokens),
    _sum(ledger.c.num_output_tokens),
)


class UsageSums:
    """Every sum is also by model, because each model has its own price."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_day(self, first_day: int, user_id: str | None = None) -> list[UsageRow[int]]:
        """Sums of one person, or of everyone."""
        where = () if user_id is None else (ledger.c.user_id == user_id,)
        return await self._sums(DAY, first_day, *where)

    async def by_person(self, first_day: int) -> list[UsageRow[str]]:
        return await self._sums(ledger.c.user_id, first_day)

    async def by_group(self, first_day: int) -> list[UsageRow[str]]:
        """Counts a turn for the group its person was in at the time."""
        return await self._sums(ledger.c.group_id, first_day, ledger.c.group_id.is_not(None))

    @reads
    def _sums(
        self,
        connection: Connection,
        of: ColumnElement[Any],
        first_day: int,
        *where: ColumnElement[bool],
    ) -> list[UsageRow[Any]]:
        sums = (
            select(of, ledger.c.model, *SUMS)
            .where(ledger.c.at >= first_day * DAY_S, *where)
            .group_by(of, ledger.c.model)
            .order_by(of, ledger.c.model)
        )
        return [UsageRow(*row) for row in connection.execute(sums)]
