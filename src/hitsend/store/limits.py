"""What people may use: set by an administrator, asked for before each turn.

The table is small and hardly ever changes, so it is kept in memory. Another program may change
it too: it is read anew after a second. What was used is the ledger's to know.
"""

from collections.abc import Mapping

from msgspec import structs
from sqlalchemy import delete, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import NotFound
from hitsend.store.database import Database
from hitsend.store.rows import LimitScope
from hitsend.store.schema import api_keys, groups, limits, users
from hitsend.store.spending import Bounds, KeyLine, Limit, LimitLine

FRESH_S = 1.0
"""How old what another program changed may get."""

LIMIT = tuple(limits.c[name] for name in Limit.__struct_fields__)
NO_LIMIT = Limit()

KEY_LABEL = func.coalesce(func.nullif(api_keys.c.label, ""), api_keys.c.prefix)
LIVE_KEYS = (
    select(api_keys.c.id, api_keys.c.user_id, users.c.name, KEY_LABEL)
    .join(users, users.c.id == api_keys.c.user_id)
    .where(api_keys.c.revoked_at.is_(None))
    .order_by(users.c.created_at, api_keys.c.created_at)
)
LINES = (
    select(
        limits.c.scope,
        limits.c.target,
        func.coalesce(users.c.name, groups.c.name, KEY_LABEL, ""),
        *LIMIT,
    )
    .outerjoin(users, (limits.c.scope == "user") & (users.c.id == limits.c.target))
    .outerjoin(groups, (limits.c.scope == "group") & (groups.c.id == limits.c.target))
    .outerjoin(api_keys, (limits.c.scope == "key") & (api_keys.c.id == limits.c.target))
    .order_by(limits.c.scope, limits.c.target)
)


class Limits:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: Mapping[tuple[LimitScope, str], Limit] = {}
        self._until = 0.0

    async def keys(self) -> list[KeyLine]:
        """Everyone's, for an administrator to choose from."""
        async with self._database.read() as connection:
            return [KeyLine(*row) for row in await connection.execute(LIVE_KEYS)]

    async def list(self) -> list[LimitLine]:
        async with self._database.read() as connection:
            return [LimitLine(*row) for row in await connection.execute(LINES)]

    async def set(self, scope: LimitScope, target: str, limit: Limit) -> None:
        setting = insert(limits).values(scope=scope, target=target, **structs.asdict(limit))
        setting = setting.on_conflict_do_update(["scope", "target"], set_=structs.asdict(limit))
        async with self._database.write() as connection:
            await _check_target(connection, scope, target)
            await connection.execute(setting)
        self.forget()

    async def remove(self, scope: LimitScope, target: str) -> None:
        its = limits.c.scope == scope, limits.c.target == target
        async with self._database.write() as connection:
            if (await connection.execute(delete(limits).where(*its))).rowcount == 0:
                raise NotFound("There is no such limit.", param="target")
        self.forget()

    def forget(self) -> None:
        """The table has changed."""
        self._until = 0.0

    async def bounds(self, user_id: str, key_id: str | None) -> Bounds | None:
        """What holds for a person and the key they call with. None where nothing is limited."""
        if self._is_fresh and not self._rows:
            return None
        async with self._database.read() as connection:
            return await self.bounds_by(connection, user_id, key_id)

    async def bounds_by(
        self, connection: AsyncConnection, user_id: str, key_id: str | None
    ) -> Bounds | None:
        if not self._is_fresh:
            await self._read(connection)
        if not self._rows:
            return None
        group_id = None
        if any(scope == "group" for scope, _ in self._rows):
            theirs = select(users.c.group_id).where(users.c.id == user_id)
            group_id = await connection.scalar(theirs)
        return Bounds(
            user=self._own(user_id, group_id),
            key=self._rows.get(("key", key_id or ""), NO_LIMIT),
            address=self._rows.get(("address", ""), NO_LIMIT),
            group=self._rows.get(("group", group_id or ""), NO_LIMIT),
            group_id=group_id,
        )

    def _own(self, user_id: str, group_id: str | None) -> Limit:
        """The row that is most about them counts, whole. What a group has for a day its people
        share: nobody has that for themselves."""
        if own := self._rows.get(("user", user_id)):
            return own
        if group := self._rows.get(("group", group_id or "")):
            return structs.replace(group, tokens_per_day=None)
        return self._rows.get(("everyone", ""), NO_LIMIT)

    @property
    def _is_fresh(self) -> bool:
        return self._database.now() < self._until

    async def _read(self, connection: AsyncConnection) -> None:
        until = self._database.now() + FRESH_S
        rows = await connection.execute(select(limits.c.scope, limits.c.target, *LIMIT))
        self._rows = {(scope, target): Limit(*limit) for scope, target, *limit in rows}
        self._until = until


async def _check_target(connection: AsyncConnection, scope: LimitScope, target: str) -> None:
    """NOTE: a key that was revoked is not there any more."""
    is_there = {
        "user": select(users.c.id).where(users.c.id == target),
        "group": select(groups.c.id).where(groups.c.id == target),
        "key": select(api_keys.c.id).where(
            api_keys.c.id == target, api_keys.c.revoked_at.is_(None)
        ),
    }
    if scope in is_there and await connection.scalar(is_there[scope]) is None:
        raise NotFound(f"There is no such {scope}.", param="target")
