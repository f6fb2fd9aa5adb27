"""Experiments: A/B tests of prompt versions. Each turn that takes part is a trial.

`prompts.outcomes` evaluates the trials.
"""

from collections.abc import Iterable
from uuid import uuid4

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from hitsend.errors import Conflict, NotFound, Refused
from hitsend.messages import Rating, UsedPrompt
from hitsend.store.audit import record
from hitsend.store.audit_events import Actor, ExperimentEnded, ExperimentStarted
from hitsend.store.context_schema import experiments, trials
from hitsend.store.database import Database, reads, writes
from hitsend.store.prompts import FIRST_OWN, Prompts, set_version
from hitsend.store.schema import feedback, messages, turns

MAX_TRIALS = 50_000
"""Only the newest are evaluated."""
NUM_BEGINNING_CHARS = 240
"""Enough of an answer to see whether it is a refusal."""


class Experiment(msgspec.Struct, frozen=True):
    id: str
    prompt: str
    versions: tuple[int, ...]
    started_at: float
    ended_at: float | None
    winner: int | None


class Trial(msgspec.Struct, frozen=True):
    """The result of one turn."""

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

    @reads
    def get(self, connection: Connection, experiment_id: str) -> Experiment:
        return _get_experiment(connection, experiment_id)

    async def start(self, prompt: str, versions: tuple[int, ...], by: Actor) -> Experiment:
        """Raises Conflict if an experiment with this prompt is running."""
        now = self._database.now()
        new = Experiment(str(uuid4()), prompt, versions, now, None, None)
        await self._start(new, by)
        self._prompts.invalidate()
        return new

    @writes
    def _start(self, connection: Connection, new: Experiment, by: Actor) -> None:
        try:
            connection.execute(insert(experiments).values(msgspec.structs.asdict(new)))
        except IntegrityError:
            raise Conflict("An experiment with this prompt is under way.") from None
        started = ExperimentStarted(new.id, new.prompt, new.versions)
        record(connection, started, by, new.started_at)

    async def end(self, experiment_id: str, winner: int | None, by: Actor) -> Experiment:
        """Makes the winner the active version. Without one, the version before the experiment
        stays active."""
        ended = await self._end(experiment_id, winner, by)
        self._prompts.invalidate()
        return ended

    @writes
    def _end(
        self, connection: Connection, experiment_id: str, winner: int | None, by: Actor
    ) -> Experiment:
        now = self._database.now()
        experiment = _get_experiment(connection, experiment_id)
        _check_can_end(experiment, winner)
        query = update(experiments).where(experiments.c.id == experiment_id)
        connection.execute(query.values(ended_at=now, winner=winner))
        if winner is not None:
            chosen = winner if winner >= FIRST_OWN else None
            set_version(connection, experiment.prompt, chosen, now)
        ended = ExperimentEnded(experiment_id, experiment.prompt, winner)
        record(connection, ended, by, now)
        return msgspec.structs.replace(experiment, ended_at=now, winner=winner)

    @reads
    def trials(self, connection: Connection, experiment_id: str) -> list[Trial]:
        """Returns the trials whose turns still exist."""
        return [Trial(*row) for row in connection.execute(_select_trials(experiment_id))]

    @reads
    def list(self, connection: Connection) -> list[Experiment]:
        """Newest first."""
        query = select(*EXPERIMENT_COLUMNS).order_by(experiments.c.started_at.desc()).limit(200)
        return [Experiment(*row) for row in connection.execute(query)]


def record_trials(connection: Connection, turn_id: str, prompts: Iterable[UsedPrompt]) -> None:
    """Records the variants a turn used, in the transaction that stores the turn."""
    rows = [
        {"turn_id": turn_id, "experiment_id": used.experiment_id, "version": used.version}
        for used in prompts
        if used.experiment_id
    ]
    if rows:
        connection.execute(insert(trials), rows)


def _get_experiment(connection: Connection, experiment_id: str) -> Experiment:
    query = select(*EXPERIMENT_COLUMNS).where(experiments.c.id == experiment_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("There is no such experiment.", param="experiment_id")
    return Experiment(*row)


def _check_can_end(experiment: Experiment, winner: int | None) -> None:
    if experiment.ended_at is not None:
        raise Conflict("This experiment has ended.")
    if winner is not None and winner not in experiment.versions:
        raise Refused("The winner has to be one of its versions.", param="winner")


def _select_trials(
    experiment_id: str,
) -> Select[int, str, int, int, float | None, float | None, Rating, str]:
    is_answer = (messages.c.turn_id == turns.c.id) & (messages.c.id == turns.c.answer_id)
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
        .outerjoin(messages, is_answer)
        .outerjoin(feedback, feedback.c.message_position == messages.c.position)
        .where(trials.c.experiment_id == experiment_id, turns.c.state.in_(("stop", "length")))
        .order_by(turns.c.created_at.desc())
        .limit(MAX_TRIALS)
    )


EXPERIMENT_COLUMNS = tuple(experiments.c[name] for name in Experiment.__struct_fields__)
FIRST_WORD_MS: ColumnElement[float | None] = func.json_extract(messages.c.usage, "$.first_word_ms")
FIRST_TEXT: ColumnElement[str | None] = func.json_extract(messages.c.parts, "$[0].text")
