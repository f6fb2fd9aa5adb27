"""Prices of a million tokens of each model, set by an administrator."""

from msgspec import structs
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import Conflict, NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import SERVER, Actor, PriceChanged
from hitsend.store.database import Database, reads, writes
from hitsend.store.limit_rows import Price
from hitsend.store.schema import prices

MAX_PRICES = 1000

PRICE_COLUMNS = tuple(prices.c[name] for name in Price.__struct_fields__)


class Prices:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def list(self, connection: Connection) -> list[Price]:
        rows = connection.execute(select(*PRICE_COLUMNS).order_by(prices.c.model))
        return [Price(*row) for row in rows]

    @writes
    def set(self, connection: Connection, price: Price, by: Actor = SERVER) -> None:
        """The model need not exist: models come and go."""
        values = structs.asdict(price)
        row = insert(prices).values(values)
        others = select(func.count()).select_from(prices).where(prices.c.model != price.model)
        if (connection.scalar(others) or 0) >= MAX_PRICES:
            raise Conflict(f"There are {MAX_PRICES} prices, the most there can be.")
        connection.execute(row.on_conflict_do_update(["model"], set_=values))
        record(connection, PriceChanged(price.model, price), by, self._database.now())

    @writes
    def remove(self, connection: Connection, model: str, by: Actor = SERVER) -> None:
        query = delete(prices).where(prices.c.model == model)
        if connection.execute(query).rowcount == 0:
            raise NotFound("There is no price for this model.", param="model")
        record(connection, PriceChanged(model, None), by, self._database.now())
