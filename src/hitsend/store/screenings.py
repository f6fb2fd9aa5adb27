"""What the safety checks made of the messages of turns, for the statistics of administrators."""

from collections.abc import Iterable

import msgspec
from sqlalchemy import Connection, Float, Integer, case, cast, func, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.safety.policy import Outcome, Screening
from hitsend.safety.rules import Stage
from hitsend.store.database import Database, reads
from hitsend.store.prepared import Prepared
from hitsend.store.reviews import ADD_REVIEW, queue_answer, review_row
from hitsend.store.rows import FinishedTurn, NewTurn
from hitsend.store.safety_schema import screenings
from hitsend.store.schema import turns

SAFETY_PROMPT = "safety_instructions"
"""The prompt of the library that tells models how to be safe."""
DAY_S = 86_400

ADD_SCREENING = Prepared(insert(screenings).on_conflict_do_nothing(), *screenings.columns.keys())


class OutcomeCount(msgspec.Struct, frozen=True):
    """How many texts of a day ended alike."""

    day: int
    """Days since 1970, in UTC."""
    stage: Stage
    outcome: Outcome
    category: str | None
    model: str
    prompt_version: int | None
    num: int
    num_incomplete: int
    mean_score: float | None
    mean_ms: float
    most_ms: float


class Screenings:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def count(self, connection: Connection, num_days: int) -> list[OutcomeCount]:
        """Returns the counts of the last days, newest first."""
        day = cast(screenings.c.created_at / DAY_S, Integer)
        groups = (
            day,
            screenings.c.stage,
            screenings.c.outcome,
            screenings.c.category,
            turns.c.model,
            screenings.c.prompt_version,
        )
        query = (
            select(
                *groups,
                func.count(),
                func.sum(case((screenings.c.is_complete, 0), else_=1)),
                func.avg(screenings.c.score, type_=Float),
                func.avg(screenings.c.took_ms, type_=Float),
                func.max(screenings.c.took_ms),
            )
            .join(turns, turns.c.id == screenings.c.turn_id)
            .where(screenings.c.created_at > self._database.now() - num_days * DAY_S)
            .group_by(*groups)
            .order_by(day.desc())
        )
        return [OutcomeCount(*row) for row in connection.execute(query)]


def record_screening(connection: Connection, new: NewTurn) -> None:
    """Records what was made of the message of a turn that is accepted."""
    if (screening := new.screening) is None:
        return
    versions = [one.version for one in new.prompts if one.name == SAFETY_PROMPT]
    message_id = new.message_id or ""
    row = _row(
        new.turn_id, message_id, screening, new.created_at, versions[0] if versions else None
    )
    ADD_SCREENING.run(connection, **row)
    if screening.is_queued:
        ADD_REVIEW.run(connection, **review_row(new, message_id, screening))


def record_guarded(connection: Connection, finished: Iterable[FinishedTurn]) -> None:
    """Records answers in which the checks found something."""
    for turn in finished:
        for message in turn.transcript.messages:
            if message.role == "assistant" and message.safety:
                row = _row(turn.turn_id, message.message_id, message.safety, turn.finished_at, None)
                ADD_SCREENING.run(connection, **row)
                queue_answer(connection, turn, message)


def _row(
    turn_id: str,
    message_id: str,
    screening: Screening,
    created_at: float,
    prompt_version: int | None,
) -> dict[str, object]:
    score = screening.reasons[0].score if screening.reasons else None
    return {
        "turn_id": turn_id,
        "stage": screening.stage,
        "message_id": message_id,
        "outcome": screening.outcome,
        "category": screening.category,
        "score": score or None,
        "took_ms": screening.took_ms,
        "is_complete": screening.is_complete,
        "prompt_version": prompt_version,
        "created_at": created_at,
    }
