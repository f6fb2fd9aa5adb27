"""What was used, summed by the database. Of a turn that still runs, its prompt."""

from typing import Any

from sqlalchemy import ColumnElement, Integer, cast, func, select

from hitsend.allowance import DAY_S
from hitsend.store.database import Database
from hitsend.store.schema import ledger
from hitsend.store.spending import UsageRow

DAY = cast(ledger.c.at / DAY_S, Integer)
"""Days since 1970, in UTC."""

SUMS = (
    func.count(),
    func.sum(ledger.c.num_input_tokens),
    func.sum(ledger.c.num_cached_tokens),
    func.sum(ledger.c.num_output_tokens),
)


class UsageSums:
    """Each by something and by model, for every model has its price."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_day(self, first_day: int, user_id: str | None = None) -> list[UsageRow[int]]:
        """Of one person, or of everyone."""
        theirs = () if user_id is None else (ledger.c.user_id == user_id,)
        return await self._sums(DAY, first_day, *theirs)

    async def by_person(self, first_day: int) -> list[UsageRow[str]]:
        return await self._sums(ledger.c.user_id, first_day)

    async def by_group(self, first_day: int) -> list[UsageRow[str]]:
        """Of the groups people were in at the time."""
        return await self._sums(ledger.c.group_id, first_day, ledger.c.group_id.is_not(None))

    async def _sums(
        self, of: ColumnElement[Any], first_day: int, *which: ColumnElement[bool]
    ) -> list[UsageRow[Any]]:
        sums = (
            select(of, ledger.c.model, *SUMS)
            .where(ledger.c.at >= first_day * DAY_S, *which)
            .group_by(of, ledger.c.model)
            .order_by(of, ledger.c.model)
        )
        async with self._database.read() as connection:
            return [UsageRow(*row) for row in await connection.execute(sums)]
