"""Prompt versions that an administrator wrote, and which version of each prompt is active.

Every turn needs the active versions and they change rarely, so they are cached. Another process
may change them too, so the cache expires after a second. The shipped prompts are files and not
known here.
"""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import Conflict
from hitsend.messages import Sampling
from hitsend.store.audit import record
from hitsend.store.audit_events import (
    Actor,
    PromptActivated,
    PromptSamplingChanged,
    PromptWritten,
)
from hitsend.store.context_schema import experiments, prompt_choices, prompt_versions
from hitsend.store.database import Database, reads, writes
from hitsend.store.schema import users

CACHE_TTL_S = 1.0
VersionNumber: TypeAlias = Annotated[int, Meta(ge=1, le=2**53)]
FIRST_OWN = 1001
"""Lower numbers are shipped versions."""
MAX_VERSIONS = 500
"""Per prompt."""


class PromptVersion(msgspec.Struct, frozen=True):
    """A version that an administrator wrote."""

    name: str
    version: int
    template: str
    note: str
    created_by: str | None
    """The author's name, None after their account was deleted."""
    created_at: float


class RunningExperiment(msgspec.Struct, frozen=True):
    id: str
    versions: tuple[int, ...]


class PromptOverride(msgspec.Struct, frozen=True):
    """An administrator's replacement of a shipped prompt."""

    version: int | None = None
    """None for the shipped version."""
    sampling: Sampling | None = None
    experiment: RunningExperiment | None = None
    templates: Mapping[int, str] = {}
    """Templates of those of the versions above that an administrator wrote."""


class Prompts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._overrides: Mapping[str, PromptOverride] = {}
        self._expires_at = 0.0
        self._num_changes = 0

    @reads
    def versions(self, connection: Connection) -> list[PromptVersion]:
        """Returns the versions of all prompts, newest first."""
        return [PromptVersion(*row) for row in connection.execute(VERSIONS)]

    @reads
    def template(self, connection: Connection, name: str, version: int) -> str | None:
        """Returns None for a version that no administrator wrote."""
        return _read_templates(connection, name, {version}).get(version)

    @writes
    def add(self, connection: Connection, name: str, template: str, note: str, by: Actor) -> int:
        """Stores a new version, which is not active yet."""
        is_it = prompt_versions.c.name == name
        query = select(func.count(), func.max(prompt_versions.c.version)).where(is_it)
        num_versions, newest = connection.execute(query).one()
        if num_versions >= MAX_VERSIONS:
            raise Conflict(f"There are {MAX_VERSIONS} versions, the most there can be.")
        version, now = newest + 1 if newest else FIRST_OWN, self._database.now()
        connection.execute(
            insert(prompt_versions).values(
                name=name,
                version=version,
                template=template,
                note=note,
                created_by=by.user_id,
                created_at=now,
            )
        )
        record(connection, PromptWritten(name, version), by, now)
        return version

    async def choose(
        self,
        name: str,
        by: Actor,
        *,
        version: int | None | UnsetType = UNSET,
        sampling: Sampling | None | UnsetType = UNSET,
    ) -> None:
        """Changes the active version or sampling. None is the shipped one."""
        await self._choose(name, by, version, sampling)
        self.invalidate()

    @writes
    def _choose(
        self,
        connection: Connection,
        name: str,
        by: Actor,
        version: int | None | UnsetType,
        sampling: Sampling | None | UnsetType,
    ) -> None:
        now = self._database.now()
        if version is not UNSET:
            _check_can_choose(connection, name)
            set_version(connection, name, version, now)
            record(connection, PromptActivated(name, version), by, now)
        if sampling is not UNSET:
            _set_choice(connection, name, {"sampling": sampling}, now)
            explicit = sampling.explicit if sampling else None
            record(connection, PromptSamplingChanged(name, explicit), by, now)

    async def overrides(self) -> Mapping[str, PromptOverride]:
        """Returns overrides by prompt name. A prompt without one uses the shipped version."""
        if self._database.now() < self._expires_at:
            return self._overrides
        expires_at, num_changes = self._database.now() + CACHE_TTL_S, self._num_changes
        found = await self._database.read(_read_overrides)
        if num_changes == self._num_changes:  # otherwise the rows may be older than the change
            self._overrides, self._expires_at = found, expires_at
        return found

    def invalidate(self) -> None:
        self._expires_at = 0.0
        self._num_changes += 1


def set_version(connection: Connection, name: str, version: int | None, at: float) -> None:
    _set_choice(connection, name, {"version": version}, at)


def _check_can_choose(connection: Connection, name: str) -> None:
    running = select(experiments.c.id).where(RUNNING, experiments.c.prompt == name)
    if connection.scalar(running):
        raise Conflict("An experiment with this prompt is under way. End it first.")


def _set_choice(connection: Connection, name: str, values: Mapping[str, object], at: float) -> None:
    row = insert(prompt_choices).values(name=name, chosen_at=at, **values)
    changed = {**values, "chosen_at": at}
    connection.execute(row.on_conflict_do_update(["name"], set_=changed))


def _read_overrides(connection: Connection) -> dict[str, PromptOverride]:
    choices = {row[0]: row[1:] for row in connection.execute(CHOICES)}
    running = {row[0]: RunningExperiment(*row[1:]) for row in connection.execute(EXPERIMENTS)}
    found = {}
    for name in choices.keys() | running.keys():
        version, sampling = choices.get(name, (None, None))
        experiment = running.get(name)
        versions = {version or 0, *(experiment.versions if experiment else ())}
        templates = _read_templates(connection, name, versions)
        found[name] = PromptOverride(version, sampling, experiment, templates)
    return found


def _read_templates(connection: Connection, name: str, versions: set[int]) -> Mapping[int, str]:
    query = select(prompt_versions.c.version, prompt_versions.c.template).where(
        prompt_versions.c.name == name, prompt_versions.c.version.in_(versions)
    )
    return dict(connection.execute(query).all())


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
