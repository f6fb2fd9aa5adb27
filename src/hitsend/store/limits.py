"""Limits on requests and tokens, set by an administrator and checked before each turn.

The table is small and changes rarely, so it is cached. Another process (`hitsend admin`) may
change it too, so the cache expires after a second. The ledger knows what was used.
"""

from collections.abc import Mapping

from msgspec import structs
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import SERVER, Actor, LimitChanged
from hitsend.store.database import Database, reads, writes
from hitsend.store.limit_rows import EffectiveLimits, KeyItem, Limit, LimitItem
from hitsend.store.rows import LimitScope
from hitsend.store.schema import api_keys, groups, limits, users

CACHE_TTL_S = 1.0

LIMIT_COLUMNS = tuple(limits.c[name] for name in Limit.__struct_fields__)
NO_LIMIT = Limit()

KEY_LABEL = func.coalesce(func.nullif(api_keys.c.label, ""), api_keys.c.prefix)
KEY_ITEMS = (
    select(api_keys.c.id, api_keys.c.user_id, users.c.name, KEY_LABEL)
    .join(users, users.c.id == api_keys.c.user_id)
    .where(api_keys.c.revoked_at.is_(None))
    .order_by(users.c.created_at, api_keys.c.created_at)
)
LIMIT_ITEMS = (
    select(
        limits.c.scope,
        limits.c.target,
        func.coalesce(users.c.name, groups.c.name, KEY_LABEL, ""),
        *LIMIT_COLUMNS,
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
        self._expires_at = 0.0

    @reads
    def keys(self, connection: Connection) -> list[KeyItem]:
        """Returns everyone's keys, for an administrator to choose from."""
        return [KeyItem(*row) for row in connection.execute(KEY_ITEMS)]

    @reads
    def list(self, connection: Connection) -> list[LimitItem]:
        return [LimitItem(*row) for row in connection.execute(LIMIT_ITEMS)]

    async def set(self, scope: LimitScope, target: str, limit: Limit, by: Actor = SERVER) -> None:
        await self._set(scope, target, limit, by)
        self.invalidate()

    @writes
    def _set(
        self, connection: Connection, scope: LimitScope, target: str, limit: Limit, by: Actor
    ) -> None:
        row = insert(limits).values(scope=scope, target=target, **structs.asdict(limit))
        upsert = row.on_conflict_do_update(["scope", "target"], set_=structs.asdict(limit))
        _check_target(connection, scope, target)
        changed = _change(connection, scope, target, limit)
        connection.execute(upsert)
        record(connection, changed, by, self._database.now())

    async def remove(self, scope: LimitScope, target: str, by: Actor = SERVER) -> None:
        await self._remove(scope, target, by)
        self.invalidate()

    @writes
    def _remove(self, connection: Connection, scope: LimitScope, target: str, by: Actor) -> None:
        changed = _change(connection, scope, target, None)
        if changed.before is None:
            raise NotFound("There is no such limit.", param="target")
        is_it = limits.c.scope == scope, limits.c.target == target
        connection.execute(delete(limits).where(*is_it))
        record(connection, changed, by, self._database.now())

    def invalidate(self) -> None:
        self._expires_at = 0.0

    async def find(self, user_id: str, key_id: str | None) -> EffectiveLimits | None:
        """Returns the limits of a person and their API key. None if no limit is set at all."""
        if self._is_cached and not self._rows:
            return None
        return await self._database.read(
            lambda connection: self.find_with(connection, user_id, key_id)
        )

    def find_with(
        self, connection: Connection, user_id: str, key_id: str | None
    ) -> EffectiveLimits | None:
        if not self._is_cached:
            self._read(connection)
        if not self._rows:
            return None
        group_id = None
        if any(scope == "group" for scope, _ in self._rows):
            query = select(users.c.group_id).where(users.c.id == user_id)
            group_id = connection.scalar(query)
        return EffectiveLimits(
            user=self._user_limit(user_id, group_id),
            key=self._rows.get(("key", key_id or ""), NO_LIMIT),
            address=self._rows.get(("address", ""), NO_LIMIT),
            group=self._rows.get(("group", group_id or ""), NO_LIMIT),
            group_id=group_id,
        )

    def _user_limit(self, user_id: str, group_id: str | None) -> Limit:
        """Returns the most specific row: the person's, their group's, or everyone's. A group's
        daily tokens are left out, because its people share them."""
        if own := self._rows.get(("user", user_id)):
            return own
        if group := self._rows.get(("group", group_id or "")):
            return structs.replace(group, tokens_per_day=None)
        return self._rows.get(("everyone", ""), NO_LIMIT)

    @property
    def _is_cached(self) -> bool:
        return self._database.now() < self._expires_at

    def _read(self, connection: Connection) -> None:
        expires_at = self._database.now() + CACHE_TTL_S
        rows = connection.execute(select(limits.c.scope, limits.c.target, *LIMIT_COLUMNS))
        self._rows = {(scope, target): Limit(*limit) for scope, target, *limit in rows}
        self._expires_at = expires_at


def _change(
    connection: Connection, scope: LimitScope, target: str, after: Limit | None
) -> LimitChanged:
    """Describes a change before it is made."""
    is_it = limits.c.scope == scope, limits.c.target == target
    row = connection.execute(select(*LIMIT_COLUMNS).where(*is_it)).one_or_none()
    before = Limit(*row) if row else None
    if scope == "user":
        return LimitChanged(scope, "", before, after, user_id=target)
    if scope == "group":
        name = connection.scalar(select(groups.c.name).where(groups.c.id == target))
        return LimitChanged(scope, name or "", before, after)
    if scope == "key":
        query = select(api_keys.c.prefix, api_keys.c.user_id).where(api_keys.c.id == target)
        key = connection.execute(query).one_or_none()
        if key is not None:
            return LimitChanged(scope, key.prefix, before, after, user_id=key.user_id)
    return LimitChanged(scope, "", before, after)


def _check_target(connection: Connection, scope: LimitScope, target: str) -> None:
    """A revoked key counts as missing."""
    queries = {
        "user": select(users.c.id).where(users.c.id == target),
        "group": select(groups.c.id).where(groups.c.id == target),
        "key": select(api_keys.c.id).where(
            api_keys.c.id == target, api_keys.c.revoked_at.is_(None)
        ),
    }
    if scope in queries and connection.scalar(queries[scope]) is None:
        raise NotFound(f"There is no such {scope}.", param="target")
