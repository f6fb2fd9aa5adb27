"""The administrator's own versions of prompts, and which version holds.

What holds is asked for in every turn and hardly ever changes, so it is kept in memory. Another
program may change it too: it is read anew after a second. What the prompts are that come with
hitsend is not known here.
"""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Conflict
from hitsend.messages import Sampling
from hitsend.store.audit import Change, record
from hitsend.store.context_schema import experiments, prompt_choices, prompt_versions
from hitsend.store.database import Database
from hitsend.store.schema import users

FRESH_S = 1.0
VersionNumber: TypeAlias = Annotated[int, Meta(ge=1, le=2**53)]
FIRST_OWN = 1001
"""Below it are the versions that come with hitsend, however many there will be."""
MOST_VERSIONS = 500
"""Of one prompt."""


class PromptVersion(msgspec.Struct, frozen=True):
    """One that an administrator wrote."""

    name: str
    version: int
    template: str
    note: str
    created_by: str | None
    """The name of whoever wrote it, while there is such a person."""
    created_at: float


class Running(msgspec.Struct, frozen=True):
    """An experiment under way."""

    id: str
    versions: tuple[int, ...]


class Standing(msgspec.Struct, frozen=True):
    """What holds of one prompt, where that is not simply what comes with hitsend."""

    version: int | None = None
    """None: the one that comes with hitsend."""
    sampling: Sampling | None = None
    experiment: Running | None = None
    templates: Mapping[int, str] = {}
    """Of the versions above that are an administrator's."""


class Prompts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._standings: Mapping[str, Standing] = {}
        self._until = 0.0
        self._num_changes = 0

    async def versions(self) -> list[PromptVersion]:
        """Of every prompt, the newest first."""
        async with self._database.read() as connection:
            return [PromptVersion(*row) for row in await connection.execute(VERSIONS)]

    async def template(self, name: str, version: int) -> str | None:
        """None where there is no such version of an administrator's."""
        async with self._database.read() as connection:
            return (await _templates(connection, name, {version})).get(version)

    async def add(self, name: str, template: str, note: str, user_id: str) -> int:
        """Kept, but not used before it is chosen."""
        own = prompt_versions.c.name == name
        counted = select(func.count(), func.max(prompt_versions.c.version)).where(own)
        async with self._database.write() as connection:
            num, newest = (await connection.execute(counted)).one()
            if num >= MOST_VERSIONS:
                raise Conflict(f"There are {MOST_VERSIONS} versions, the most there can be.")
            version = newest + 1 if newest else FIRST_OWN
            await connection.execute(
                insert(prompt_versions).values(
                    name=name,
                    version=version,
                    template=template,
                    note=note,
                    created_by=user_id,
                    created_at=self._database.now(),
                )
            )
            change = Change(user_id, "prompt.written", name, {"version": str(version)})
            await record(connection, change, self._database.now())
        return version

    async def choose(
        self,
        name: str,
        user_id: str,
        *,
        version: int | None | UnsetType = UNSET,
        sampling: Sampling | None | UnsetType = UNSET,
    ) -> None:
        """What is not given stays. None is what comes with hitsend."""
        async with self._database.write() as connection:
            if version is not UNSET:
                await _check_can_choose(connection, name)
                await choose_version(connection, name, version, self._database.now())
                change = Change(user_id, "prompt.activated", name, {"version": _told(version)})
                await record(connection, change, self._database.now())
            if sampling is not UNSET:
                await _choose(connection, name, {"sampling": sampling}, self._database.now())
                told = {"sampling": "shipped" if sampling is None else _brief(sampling)}
                change = Change(user_id, "prompt.decoding", name, told)
                await record(connection, change, self._database.now())
        self.forget()

    async def standings(self) -> Mapping[str, Standing]:
        """By prompt. What is not in it stands as it comes with hitsend."""
        if self._database.now() < self._until:
            return self._standings
        until, num_changes = self._database.now() + FRESH_S, self._num_changes
        async with self._database.read() as connection:
            found = await _standings(connection)
        if num_changes == self._num_changes:  # else it may be from before the change
            self._standings, self._until = found, until
        return found

    def forget(self) -> None:
        """Something has changed."""
        self._until = 0.0
        self._num_changes += 1


async def choose_version(
    connection: AsyncConnection, name: str, version: int | None, at: float
) -> None:
    await _choose(connection, name, {"version": version}, at)


async def _check_can_choose(connection: AsyncConnection, name: str) -> None:
    running = select(experiments.c.id).where(RUNNING, experiments.c.prompt == name)
    if await connection.scalar(running):
        raise Conflict("An experiment with this prompt is under way. End it first.")


async def _choose(
    connection: AsyncConnection, name: str, values: Mapping[str, object], at: float
) -> None:
    chosen = insert(prompt_choices).values(name=name, chosen_at=at, **values)
    changed = {**values, "chosen_at": at}
    await connection.execute(chosen.on_conflict_do_update(["name"], set_=changed))


async def _standings(connection: AsyncConnection) -> dict[str, Standing]:
    chosen = {row[0]: row[1:] for row in await connection.execute(CHOICES)}
    running = {row[0]: Running(*row[1:]) for row in await connection.execute(EXPERIMENTS)}
    found = {}
    for name in chosen.keys() | running.keys():
        version, sampling = chosen.get(name, (None, None))
        experiment = running.get(name)
        wanted = {version or 0, *(experiment.versions if experiment else ())}
        texts = await _templates(connection, name, wanted)
        found[name] = Standing(version, sampling, experiment, texts)
    return found


async def _templates(
    connection: AsyncConnection, name: str, versions: set[int]
) -> Mapping[int, str]:
    wanted = select(prompt_versions.c.version, prompt_versions.c.template).where(
        prompt_versions.c.name == name, prompt_versions.c.version.in_(versions)
    )
    return dict((await connection.execute(wanted)).all())


def _told(version: int | None) -> str:
    return "shipped" if version is None else str(version)


def _brief(sampling: Sampling) -> str:
    """Only what was set."""
    return msgspec.json.encode(sampling.said).decode()


RUNNING = experiments.c.ended_at.is_(None)
CHOICES = select(prompt_choices.c.name, prompt_choices.c.version, prompt_choices.c.sampling)
EXPERIMENTS = select(experiments.c.prompt, experiments.c.id, experiments.c.versions).where(RUNNING)
VERSIONS = (
    select(
        prompt_versions.c.name,
        prompt_versions.c.version,
        prompt_versions.c.template,
        prompt_versions.c.note,
        users.c.name,
        prompt_versions.c.created_at,
    )
    .outerjoin(users, users.c.id == prompt_versions.c.created_by)
    .order_by(prompt_versions.c.name, prompt_versions.c.version.desc())
)
