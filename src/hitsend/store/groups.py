"""Groups of people, who share what a group may use in a day."""

from uuid import uuid4

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Conflict, NotFound
from hitsend.store.database import Database
from hitsend.store.limits import Limits
from hitsend.store.schema import groups, limits, users
from hitsend.store.spending import Group

MOST_GROUPS = 500
"""Their list is never paged."""

GROUP = select(
    groups.c.id,
    groups.c.name,
    select(func.count())
    .select_from(users)
    .where(users.c.group_id == groups.c.id)
    .correlate(groups)
    .scalar_subquery(),
)


class Groups:
    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    async def list(self) -> list[Group]:
        """By name, as people order names."""
        async with self._database.read() as connection:
            found = [Group(*row) for row in await connection.execute(GROUP)]
        return sorted(found, key=lambda group: group.name.casefold())

    async def of(self, user_id: str) -> Group | None:
        theirs = GROUP.join(users, users.c.group_id == groups.c.id).where(users.c.id == user_id)
        async with self._database.read() as connection:
            row = (await connection.execute(theirs)).one_or_none()
        return None if row is None else Group(*row)

    async def create(self, name: str) -> Group:
        group = Group(str(uuid4()), name, 0)
        async with self._database.write() as connection:
            await _check_name(connection, name)
            now = self._database.now()
            await connection.execute(insert(groups).values(id=group.id, name=name, created_at=now))
        return group

    async def rename(self, group_id: str, name: str) -> Group:
        async with self._database.write() as connection:
            await check_group(connection, group_id)
            await _check_name(connection, name, unless_of=group_id)
            it = groups.c.id == group_id
            await connection.execute(update(groups).where(it).values(name=name))
            return Group(*(await connection.execute(GROUP.where(it))).one())

    async def delete(self, group_id: str) -> None:
        """Its people stay, in no group. What may be used goes with it."""
        its_limit = limits.c.scope == "group", limits.c.target == group_id
        async with self._database.write() as connection:
            await check_group(connection, group_id)
            await connection.execute(delete(limits).where(*its_limit))
            await connection.execute(delete(groups).where(groups.c.id == group_id))
        self._limits.forget()


async def check_group(connection: AsyncConnection, group_id: str) -> None:
    if await connection.scalar(select(groups.c.id).where(groups.c.id == group_id)) is None:
        raise NotFound("There is no such group.", param="group_id")


async def _check_name(connection: AsyncConnection, name: str, unless_of: str | None = None) -> None:
    """Two names that read alike are one."""
    named = (await connection.execute(select(groups.c.id, groups.c.name))).all()
    if unless_of is None and len(named) >= MOST_GROUPS:
        raise Conflict(f"There are {MOST_GROUPS} groups, the most there can be.")
    others = {row.name.casefold() for row in named if row.id != unless_of}
    if name.casefold() in others:
        raise Conflict(f"There is a group {name} already. Choose another name.", param="name")
