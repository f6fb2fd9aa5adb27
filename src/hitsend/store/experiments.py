"""Versions of a prompt, compared: which are, since when, and what came of each.

A turn that took part is a trial. What the numbers mean is for `prompts.outcomes` to say.
"""

from collections.abc import Iterable
from uuid import uuid4

import msgspec
from sqlalchemy import ColumnElement, Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Conflict, NotFound, Refused
from hitsend.messages import Rating, UsedPrompt
from hitsend.store.audit import Change, record
from hitsend.store.context_schema import experiments, trials
from hitsend.store.database import Database
from hitsend.store.prompts import FIRST_OWN, Prompts, choose_version
from hitsend.store.schema import feedback, messages, turns

MOST_TRIALS = 50_000
"""The newest are looked at."""
NUM_BEGINNING_CHARS = 240
"""Of an answer, as it is stored: enough to see whether it declines."""


class Experiment(msgspec.Struct, frozen=True):
    id: str
    prompt: str
    versions: tuple[int, ...]
    started_at: float
    ended_at: float | None
    winner: int | None


class Trial(msgspec.Struct, frozen=True):
    """What came of one turn. Of one that still runs, or failed, not all is known."""

    version: int
    user_id: str
    num_input_tokens: int
    num_output_tokens: int
    seconds: float | None
    first_word_ms: float | None
    rating: Rating | None
    beginning: str


class Experiments:
    def __init__(self, database: Database, prompts: Prompts) -> None:
        self._database = database
        self._prompts = prompts

    async def get(self, experiment_id: str) -> Experiment:
        async with self._database.read() as connection:
            return await _experiment(connection, experiment_id)

    async def start(self, prompt: str, versions: tuple[int, ...], user_id: str) -> Experiment:
        """Raises Conflict where one with this prompt is under way."""
        now = self._database.now()
        new = Experiment(str(uuid4()), prompt, versions, now, None, None)
        async with self._database.write() as connection:
            try:
                await connection.execute(insert(experiments).values(msgspec.structs.asdict(new)))
            except IntegrityError:
                raise Conflict("An experiment with this prompt is under way.") from None
            told = {"experiment": new.id, "versions": ", ".join(map(str, versions))}
            await record(connection, Change(user_id, "experiment.started", prompt, told), now)
        self._prompts.forget()
        return new

    async def end(self, experiment_id: str, winner: int | None, user_id: str) -> Experiment:
        """The winner is what holds from now on. Without one, what held before does."""
        now = self._database.now()
        async with self._database.write() as connection:
            experiment = await _experiment(connection, experiment_id)
            _check_can_end(experiment, winner)
            ending = update(experiments).where(experiments.c.id == experiment_id)
            await connection.execute(ending.values(ended_at=now, winner=winner))
            if winner is not None:
                chosen = winner if winner >= FIRST_OWN else None
                await choose_version(connection, experiment.prompt, chosen, now)
            told = {"experiment": experiment_id, "winner": str(winner) if winner else "none"}
            change = Change(user_id, "experiment.ended", experiment.prompt, told)
            await record(connection, change, now)
        self._prompts.forget()
        return msgspec.structs.replace(experiment, ended_at=now, winner=winner)

    async def trials(self, experiment_id: str) -> list[Trial]:
        """Of whatever was not deleted since."""
        async with self._database.read() as connection:
            return [Trial(*row) for row in await connection.execute(_trials(experiment_id))]

    async def list(self) -> list[Experiment]:
        """The newest first."""
        newest = select(*EXPERIMENT).order_by(experiments.c.started_at.desc()).limit(200)
        async with self._database.read() as connection:
            return [Experiment(*row) for row in await connection.execute(newest)]


async def take_part(
    connection: AsyncConnection, turn_id: str, prompts: Iterable[UsedPrompt]
) -> None:
    """Which variants a turn was asked with. Called where the turn is stored."""
    rows = [
        {"turn_id": turn_id, "experiment_id": used.experiment_id, "version": used.version}
        for used in prompts
        if used.experiment_id
    ]
    if rows:
        await connection.execute(insert(trials), rows)


async def _experiment(connection: AsyncConnection, experiment_id: str) -> Experiment:
    named = select(*EXPERIMENT).where(experiments.c.id == experiment_id)
    row = (await connection.execute(named)).one_or_none()
    if row is None:
        raise NotFound("There is no such experiment.", param="experiment_id")
    return Experiment(*row)


def _check_can_end(experiment: Experiment, winner: int | None) -> None:
    if experiment.ended_at is not None:
        raise Conflict("This experiment has ended.")
    if winner is not None and winner not in experiment.versions:
        raise Refused("The winner has to be one of its versions.", param="winner")


def _trials(
    experiment_id: str,
) -> Select[int, str, int, int, float | None, float | None, Rating, str]:
    answered = (messages.c.turn_id == turns.c.id) & (messages.c.id == turns.c.answer_id)
    return (
        select(
            trials.c.version,
            turns.c.user_id,
            turns.c.num_input_tokens,
            turns.c.num_output_tokens,
            turns.c.finished_at - turns.c.created_at,
            FIRST_WORD_MS,
            feedback.c.rating,
            func.coalesce(func.substr(FIRST_TEXT, 1, NUM_BEGINNING_CHARS), ""),
        )
        .select_from(trials)
        .join(turns, turns.c.id == trials.c.turn_id)
        .outerjoin(messages, answered)
        .outerjoin(feedback, feedback.c.message_position == messages.c.position)
        .where(trials.c.experiment_id == experiment_id, turns.c.state.in_(("stop", "length")))
        .order_by(turns.c.created_at.desc())
        .limit(MOST_TRIALS)
    )


EXPERIMENT = tuple(experiments.c[name] for name in Experiment.__struct_fields__)
FIRST_WORD_MS: ColumnElement[float | None] = func.json_extract(messages.c.usage, "$.first_word_ms")
FIRST_TEXT: ColumnElement[str | None] = func.json_extract(messages.c.parts, "$[0].text")
