"""Safety policies that administrators changed, for everyone or for a group.

Every Send needs them and they change rarely, so they are cached. Another process may change them
too, so the cache expires after a second.
"""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection, bindparam, delete, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.safety.policy import DEFAULT_POLICY, Policy
from hitsend.store.audit import record
from hitsend.store.audit_events import Actor, SafetyPolicyChanged
from hitsend.store.database import Database, reads, writes
from hitsend.store.groups import check_group
from hitsend.store.prepared import Prepared
from hitsend.store.safety_schema import safety_policies
from hitsend.store.schema import users

CACHE_TTL_S = 1.0
EVERYONE = "everyone"

FIND_GROUP = Prepared(select(users.c.group_id).where(users.c.id == bindparam("user_id")))


class VersionedPolicy(msgspec.Struct, frozen=True):
    policy: Policy = DEFAULT_POLICY
    version: int | None = None
    """Counts the changes of an administrator. None for the shipped policy."""


SHIPPED = VersionedPolicy()


class SafetyPolicies:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._changed: Mapping[str, VersionedPolicy] = {}
        self._expires_at = 0.0
        self._num_changes = 0

    async def find(self, user_id: str) -> VersionedPolicy:
        """Returns the policy of the person's group, or else everyone's."""
        changed = await self.list_changed()
        if changed.keys() - {EVERYONE}:
            row = await self._database.read(lambda one: FIND_GROUP.first(one, user_id=user_id))
            if row and row[0] in changed:
                return changed[row[0]]
        return changed.get(EVERYONE, SHIPPED)

    async def list_changed(self) -> Mapping[str, VersionedPolicy]:
        """Returns what administrators changed, by the id of the group or `everyone`."""
        if self._database.now() < self._expires_at:
            return self._changed
        expires_at, num_changes = self._database.now() + CACHE_TTL_S, self._num_changes
        found = await self._read_changed()
        if num_changes == self._num_changes:  # otherwise the rows may be older than the change
            self._changed, self._expires_at = found, expires_at
        return found

    async def change(self, scope: str, policy: Policy | None, by: Actor) -> VersionedPolicy:
        """None goes back to the shipped policy, or for a group to everyone's."""
        changed = await self._change(scope, policy, by)
        self._expires_at = 0.0
        self._num_changes += 1
        return changed

    @reads
    def _read_changed(self, connection: Connection) -> Mapping[str, VersionedPolicy]:
        columns = safety_policies.c.scope, safety_policies.c.policy, safety_policies.c.version
        rows = connection.execute(select(*columns))
        return {scope: VersionedPolicy(policy, version) for scope, policy, version in rows}

    @writes
    def _change(
        self, connection: Connection, scope: str, policy: Policy | None, by: Actor
    ) -> VersionedPolicy:
        group = "" if scope == EVERYONE else check_group(connection, scope)
        is_it = safety_policies.c.scope == scope
        version = connection.scalar(select(safety_policies.c.version).where(is_it)) or 0
        now = self._database.now()
        if policy is None:
            connection.execute(delete(safety_policies).where(is_it))
        else:
            values = {"policy": policy, "version": version + 1, "changed_at": now}
            row = insert(safety_policies).values(scope=scope, **values)
            connection.execute(row.on_conflict_do_update(["scope"], set_=values))
        changes = None if policy is None else msgspec.to_builtins(policy)
        record(connection, SafetyPolicyChanged(scope, group, changes), by, now)
        return SHIPPED if policy is None else VersionedPolicy(policy, version + 1)
