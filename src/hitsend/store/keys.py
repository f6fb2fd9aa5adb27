"""API keys. Only their hashes are kept, and the first letters to tell them apart by."""

import logging
from collections.abc import Collection
from uuid import uuid4

from msgspec import structs
from sqlalchemy import delete, insert, select, update

from hitsend.errors import NotFound, StoreDown
from hitsend.store.database import Database
from hitsend.store.rows import ApiKey, User
from hitsend.store.schema import api_keys, limits, users
from hitsend.store.users import USER, is_enabled

log = logging.getLogger(__name__)

TOUCH_S = 60.0
"""How stale the time a key was last used may be. Exact would be a write per request."""

KEY = (
    api_keys.c.id,
    api_keys.c.user_id,
    api_keys.c.prefix,
    api_keys.c.label,
    api_keys.c.created_at,
    api_keys.c.last_used_at,
)


class Keys:
    _database: Database

    async def create_key(self, user_id: str, key_hash: str, prefix: str, label: str) -> ApiKey:
        key = ApiKey(str(uuid4()), user_id, prefix, label, self._database.now(), None)
        async with self._database.write() as connection:
            await connection.execute(
                insert(api_keys).values(key_hash=key_hash, **structs.asdict(key))
            )
        return key

    async def by_key(self, key_hash: str) -> tuple[ApiKey, User] | None:
        found = (
            select(*KEY, *USER)
            .join(users, users.c.id == api_keys.c.user_id)
            .where(api_keys.c.key_hash == key_hash, api_keys.c.revoked_at.is_(None), is_enabled())
        )
        async with self._database.read() as connection:
            row = (await connection.execute(found)).one_or_none()
        if row is None:
            return None
        key, user = ApiKey(*row[:6]), User(*row[6:])
        await self._touch(key)
        return key, user

    async def _touch(self, key: ApiKey) -> None:
        now = self._database.now()
        if now - (key.last_used_at or 0.0) < TOUCH_S:
            return
        touching = update(api_keys).where(api_keys.c.id == key.id).values(last_used_at=now)
        try:
            async with self._database.write() as connection:
                await connection.execute(touching)
        except StoreDown as error:  # no reason to turn anyone away
            log.warning("The use of a key could not be noted: %s", error.message)

    async def keys(self, user_id: str) -> list[ApiKey]:
        theirs = select(*KEY).where(api_keys.c.user_id == user_id, api_keys.c.revoked_at.is_(None))
        async with self._database.read() as connection:
            rows = await connection.execute(theirs.order_by(api_keys.c.created_at))
        return [ApiKey(*row) for row in rows]

    async def live_keys(self, key_ids: Collection[str]) -> set[str]:
        """Those of them that hold now."""
        live = (
            select(api_keys.c.id)
            .join(users, users.c.id == api_keys.c.user_id)
            .where(api_keys.c.id.in_(key_ids), api_keys.c.revoked_at.is_(None), is_enabled())
        )
        async with self._database.read() as connection:
            return set(await connection.scalars(live))

    async def revoke_key(self, key_id: str, user_id: str) -> None:
        revoking = update(api_keys).where(
            api_keys.c.id == key_id, api_keys.c.user_id == user_id, api_keys.c.revoked_at.is_(None)
        )
        async with self._database.write() as connection:
            done = await connection.execute(revoking.values(revoked_at=self._database.now()))
            if done.rowcount == 0:
                raise NotFound("There is no such key.")
            its_limit = limits.c.scope == "key", limits.c.target == key_id
            await connection.execute(delete(limits).where(*its_limit))
