"""The audit log of changes that affect everyone. An entry is stored in its change's transaction.

Entries are never deleted, and contain no text that people wrote in conversations.
"""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection, insert, select

from hitsend.store.context_schema import audit
from hitsend.store.database import Database, reads
from hitsend.store.schema import users


class Change(msgspec.Struct, frozen=True):
    """`user_id` did `action` to `subject`."""

    user_id: str
    action: str
    subject: str
    detail: Mapping[str, str] = {}


class AuditEntry(msgspec.Struct, frozen=True):
    position: int
    at: float
    user_id: str | None
    """None after the account was deleted."""
    name: str | None
    action: str
    subject: str
    detail: Mapping[str, str]


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def list(self, connection: Connection, *, before: int = 0, limit: int) -> list[AuditEntry]:
        """Returns the newest entries first, those before a position if one is given."""
        query = (
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
            query = query.where(audit.c.position < before)
        return [AuditEntry(*row) for row in connection.execute(query)]


def record(connection: Connection, change: Change, at: float) -> None:
    connection.execute(insert(audit).values(at=at, **msgspec.structs.asdict(change)))
