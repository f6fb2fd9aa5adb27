"""API keys, stored as hashes, with their first letters to tell them apart."""

import logging
from collections.abc import Collection
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from cachetools import LRUCache
from msgspec import structs
from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from hitsend.errors import KeyInvalid, NotAllowed, NotFound, ScopeMissing, StoreDown
from hitsend.store.audit import record
from hitsend.store.audit_events import SERVER, Actor, KeyCreated, KeyDeleted
from hitsend.store.database import Database, reads, writes
from hitsend.store.prepared import Prepared
from hitsend.store.rows import ApiKey, KeyScope, User
from hitsend.store.schema import api_keys, limits, users
from hitsend.store.users import USER_COLUMNS, is_admin, is_enabled

log = logging.getLogger(__name__)

TOUCH_S = 60.0
"""Accuracy of `last_used_at`. An exact time would be a write per request."""
MAX_TOUCHES = 10_000

KEY_COLUMNS = (
    api_keys.c.id,
    api_keys.c.user_id,
    api_keys.c.prefix,
    api_keys.c.label,
    api_keys.c.created_at,
    api_keys.c.last_used_at,
    api_keys.c.scopes,
    api_keys.c.expires_at,
)
DEFAULT_SCOPES: tuple[KeyScope, ...] = ("chat", "read")

FIND_KEY = Prepared(
    select(*KEY_COLUMNS, *USER_COLUMNS)
    .join(users, users.c.id == api_keys.c.user_id)
    .where(
        api_keys.c.key_hash == bindparam("key_hash"),
        api_keys.c.revoked_at.is_(None),
        is_enabled(),
    )
)


class Keys:
    _database: Database
    _key_touches: LRUCache[str, float]
    """When the use of a key was last noted, by its id. Concurrent requests note it once, also one
    that read the key before another's note was stored."""

    @writes
    def create_key(
        self,
        connection: Connection,
        user_id: str,
        key_hash: str,
        prefix: str,
        label: str,
        scopes: Collection[KeyScope] = DEFAULT_SCOPES,
        expires_at: float | None = None,
        by: Actor = SERVER,
    ) -> ApiKey:
        """Raises NotAllowed for the scope `admin` where the user is no administrator."""
        is_allowed = select(users.c.id).where(users.c.id == user_id, is_admin())
        if "admin" in scopes and connection.scalar(is_allowed) is None:
            raise NotAllowed("Only an administrator can make a key that administers.")
        key = ApiKey(
            id=str(uuid4()),
            user_id=user_id,
            prefix=prefix,
            label=label,
            created_at=self._database.now(),
            last_used_at=None,
            scopes=tuple(sorted(set(scopes))),
            expires_at=expires_at,
        )
        connection.execute(insert(api_keys).values(key_hash=key_hash, **structs.asdict(key)))
        record(connection, KeyCreated(user_id, key.id, prefix, key.scopes), by, key.created_at)
        return key

    async def find_by_key(self, key_hash: str) -> tuple[ApiKey, User] | None:
        """Raises KeyInvalid for a key that has expired."""
        row = await self._database.read(partial(FIND_KEY.first, key_hash=key_hash))
        if row is None:
            return None
        key, user = ApiKey(*row[: len(KEY_COLUMNS)]), User(*row[len(KEY_COLUMNS) :])
        if key.expires_at is not None and key.expires_at <= self._database.now():
            day = datetime.fromtimestamp(key.expires_at, UTC)
            raise KeyInvalid(
                f"This API key expired on {day:%Y-%m-%d}. Make a new one under Settings, API keys."
            )
        await self._touch(key)
        return key, user

    @reads
    def check_may_read(self, connection: Connection, user_id: str, key_id: str | None) -> None:
        """Raises ScopeMissing for an API key that may not read conversations."""
        if key_id is None:
            return
        scopes = func.json_each(api_keys.c.scopes).table_valued("value")
        may_read = exists().where(
            api_keys.c.id == key_id,
            api_keys.c.user_id == user_id,
            api_keys.c.revoked_at.is_(None),
            exists(select(scopes.c.value).where(scopes.c.value == "read").correlate(api_keys)),
        )
        if not connection.scalar(select(may_read)):
            raise ScopeMissing(
                "This API key may not read conversations. Make one with the scope `read`."
            )

    async def _touch(self, key: ApiKey) -> None:
        now = self._database.now()
        noted_at = max(key.last_used_at or 0.0, self._key_touches.get(key.id, 0.0))
        if now - noted_at < TOUCH_S:
            return
        self._key_touches[key.id] = now
        query = update(api_keys).where(api_keys.c.id == key.id).values(last_used_at=now)
        try:
            await self._database.write(lambda connection: connection.execute(query).close())
        except StoreDown as error:  # the request itself is fine
            log.warning("The use of a key could not be recorded: %s", error.message)
            self._key_touches.pop(key.id, None)

    @reads
    def list_keys(self, connection: Connection, user_id: str) -> list[ApiKey]:
        is_it = api_keys.c.user_id == user_id, api_keys.c.revoked_at.is_(None)
        query = select(*KEY_COLUMNS).where(*is_it)
        rows = connection.execute(query.order_by(api_keys.c.created_at))
        return [ApiKey(*row) for row in rows]

    @reads
    def filter_keys(self, connection: Connection, key_ids: Collection[str]) -> set[str]:
        """Returns those that are valid now."""
        query = (
            select(api_keys.c.id)
            .join(users, users.c.id == api_keys.c.user_id)
            .where(
                api_keys.c.id.in_(key_ids),
                api_keys.c.revoked_at.is_(None),
                or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > self._database.now()),
                is_enabled(),
            )
        )
        return set(connection.scalars(query))

    @writes
    def revoke_key(
        self, connection: Connection, key_id: str, user_id: str, by: Actor = SERVER
    ) -> None:
        is_it = (api_keys.c.id == key_id) & (api_keys.c.user_id == user_id)
        if not revoke_keys(connection, is_it, by, self._database.now()):
            raise NotFound("There is no such key.")


def revoke_keys(connection: Connection, which: ColumnElement[bool], by: Actor, now: float) -> int:
    """Also removes their limits. Returns how many there were."""
    revoke = update(api_keys).where(which, api_keys.c.revoked_at.is_(None))
    columns = api_keys.c.user_id, api_keys.c.id, api_keys.c.prefix
    revoked = connection.execute(revoke.values(revoked_at=now).returning(*columns)).all()
    is_theirs = limits.c.scope == "key", limits.c.target.in_([row.id for row in revoked])
    connection.execute(delete(limits).where(*is_theirs))
    for row in revoked:
        record(connection, KeyDeleted(*row), by, now)
    return len(revoked)
