"""Who changed what for everyone. Each entry is written with the change it tells of, or neither is.

Nothing is ever taken out, and no text of people's is in it.
"""

from collections.abc import Mapping

import msgspec
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.store.context_schema import audit
from hitsend.store.database import Database
from hitsend.store.schema import users


class Change(msgspec.Struct, frozen=True):
    """`user_id` did `action` to `subject`."""

    user_id: str
    action: str
    subject: str
    detail: Mapping[str, str] = {}


class AuditLine(msgspec.Struct, frozen=True):
    position: int
    at: float
    user_id: str | None
    """None once that person is gone."""
    name: str | None
    action: str
    subject: str
    detail: Mapping[str, str]


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, *, before: int = 0, limit: int) -> list[AuditLine]:
        """The newest first; of those before a position, where one is given."""
        lines = (
            select(
                audit.c.position,
                audit.c.at,
                audit.c.user_id,
                users.c.name,
                audit.c.action,
                audit.c.subject,
                audit.c.detail,
            )
            .outerjoin(users, users.c.id == audit.c.user_id)
            .order_by(audit.c.position.desc())
            .limit(limit)
        )
        if before:
            lines = lines.where(audit.c.position < before)
        async with self._database.read() as connection:
            return [AuditLine(*row) for row in await connection.execute(lines)]


async def record(connection: AsyncConnection, change: Change, at: float) -> None:
    await connection.execute(insert(audit).values(at=at, **msgspec.structs.asdict(change)))
