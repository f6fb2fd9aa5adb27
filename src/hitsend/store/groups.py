"""Groups of people. A group shares one daily token limit, and says which tools there are for its
people."""

from collections.abc import Collection, Sequence
from uuid import uuid4

from sqlalchemy import Connection, delete, exists, func, insert, select, update

from hitsend.errors import Conflict, NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import (
    SERVER,
    Actor,
    GroupCreated,
    GroupDeleted,
    GroupFeaturesChanged,
    GroupRenamed,
)
from hitsend.store.database import Database, reads, writes
from hitsend.store.limit_rows import Group
from hitsend.store.limits import Limits
from hitsend.store.prepared import as_list
from hitsend.store.schema import groups, limits, users

MAX_GROUPS = 500
"""Because the list of groups is not paged."""

GROUP_COLUMNS = select(
    groups.c.id,
    groups.c.name,
    select(func.count())
    .select_from(users)
    .where(users.c.group_id == groups.c.id)
    .correlate(groups)
    .scalar_subquery(),
    groups.c.features,
)


class Groups:
    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    @reads
    def list(self, connection: Connection) -> list[Group]:
        """Sorted by name, ignoring case."""
        found = [Group(*row) for row in connection.execute(GROUP_COLUMNS)]
        return sorted(found, key=lambda group: group.name.casefold())

    @reads
    def find_by_user(self, connection: Connection, user_id: str) -> Group | None:
        query = GROUP_COLUMNS.join(users, users.c.group_id == groups.c.id).where(
            users.c.id == user_id
        )
        row = connection.execute(query).one_or_none()
        return None if row is None else Group(*row)

    @writes
    def create(self, connection: Connection, name: str, by: Actor = SERVER) -> Group:
        group = Group(str(uuid4()), name, 0)
        _check_name(connection, name)
        now = self._database.now()
        connection.execute(insert(groups).values(id=group.id, name=name, created_at=now))
        record(connection, GroupCreated(group.id, name), by, now)
        return group

    @writes
    def rename(self, connection: Connection, group_id: str, name: str, by: Actor = SERVER) -> Group:
        before = check_group(connection, group_id)
        _check_name(connection, name, except_id=group_id)
        is_it = groups.c.id == group_id
        connection.execute(update(groups).where(is_it).values(name=name))
        record(connection, GroupRenamed(group_id, before, name), by, self._database.now())
        return Group(*connection.execute(GROUP_COLUMNS.where(is_it)).one())

    @writes
    def set_features(
        self,
        connection: Connection,
        group_id: str,
        features: Sequence[str] | None,
        by: Actor = SERVER,
    ) -> Group:
        """None lets its people have all features that there are."""
        name, is_it = check_group(connection, group_id), groups.c.id == group_id
        before = connection.scalar(select(groups.c.features).where(is_it))
        after = None if features is None else tuple(sorted(set(features)))
        if before != after:
            connection.execute(update(groups).where(is_it).values(features=after))
            changed = GroupFeaturesChanged(group_id, name, before, after)
            record(connection, changed, by, self._database.now())
        return Group(*connection.execute(GROUP_COLUMNS.where(is_it)).one())

    @reads
    def filter_features(
        self, connection: Connection, user_id: str, features: Collection[str]
    ) -> set[str]:
        """Returns those that the person's group may have. Without a group, all."""
        given = func.json_each(as_list(features)).table_valued("value", name="given")
        allowed = func.json_each(groups.c.features).table_valued("value", name="allowed")
        is_kept_away = exists().where(
            users.c.id == user_id,
            users.c.group_id == groups.c.id,
            groups.c.features.is_not(None),
            given.c.value.not_in(select(allowed.c.value).correlate(groups)),
        )
        return set(connection.scalars(select(given.c.value).where(~is_kept_away)))

    async def delete(self, group_id: str, by: Actor = SERVER) -> None:
        """Keeps its people, in no group, and deletes its limits."""
        await self._delete(group_id, by)
        self._limits.invalidate()

    @writes
    def _delete(self, connection: Connection, group_id: str, by: Actor) -> None:
        is_its_limit = limits.c.scope == "group", limits.c.target == group_id
        name = check_group(connection, group_id)
        connection.execute(delete(limits).where(*is_its_limit))
        connection.execute(delete(groups).where(groups.c.id == group_id))
        record(connection, GroupDeleted(group_id, name), by, self._database.now())


def check_group(connection: Connection, group_id: str) -> str:
    """Returns its name. Raises NotFound."""
    name = connection.scalar(select(groups.c.name).where(groups.c.id == group_id))
    if name is None:
        raise NotFound("There is no such group.", param="group_id")
    return name


def _check_name(connection: Connection, name: str, except_id: str | None = None) -> None:
    """Names are compared without case."""
    rows = connection.execute(select(groups.c.id, groups.c.name)).all()
    if except_id is None and len(rows) >= MAX_GROUPS:
        raise Conflict(f"There are {MAX_GROUPS} groups, the most there can be.")
    others = {row.name.casefold() for row in rows if row.id != except_id}
    if name.casefold() in others:
        raise Conflict(f"There is a group {name} already. Choose another name.", param="name")
