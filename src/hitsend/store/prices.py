"""What a million tokens of a model cost, where somebody wants to know."""

from msgspec import structs
from sqlalchemy import delete, func, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import Conflict, NotFound
from hitsend.store.database import Database
from hitsend.store.schema import prices
from hitsend.store.spending import Price

MOST_PRICES = 1000

PRICE = tuple(prices.c[name] for name in Price.__struct_fields__)


class Prices:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self) -> list[Price]:
        async with self._database.read() as connection:
            rows = await connection.execute(select(*PRICE).order_by(prices.c.model))
        return [Price(*row) for row in rows]

    async def set(self, price: Price) -> None:
        """Models come and go: it need not be one that is here."""
        values = structs.asdict(price)
        setting = insert(prices).values(values)
        others = select(func.count()).select_from(prices).where(prices.c.model != price.model)
        async with self._database.write() as connection:
            if (await connection.scalar(others) or 0) >= MOST_PRICES:
                raise Conflict(f"There are {MOST_PRICES} prices, the most there can be.")
            await connection.execute(setting.on_conflict_do_update(["model"], set_=values))

    async def remove(self, model: str) -> None:
        removing = delete(prices).where(prices.c.model == model)
        async with self._database.write() as connection:
            if (await connection.execute(removing)).rowcount == 0:
                raise NotFound("There is no price for this model.", param="model")
