"""Ends the turns that a crash left running. Their text so far is kept."""

import time
from collections.abc import Sequence

from hitsend import transcript
from hitsend.events import Stamped, TurnFinished, TurnStarted
from hitsend.messages import Sampling
from hitsend.store import FinishedTurn, LogEntry, Store, TurnRow

BATCH_SIZE = 50
"""Turns that are ended in one read and one write."""


async def end_interrupted_turns(store: Store) -> None:
    turns, now = await store.turns.list_running(), time.time()
    for start in range(0, len(turns), BATCH_SIZE):
        batch = turns[start : start + BATCH_SIZE]
        logs = await store.turns.logs([turn.id for turn in batch])
        ends = [_build_interruption(turn, logs[turn.id], now) for turn in batch]
        entries = [entry for missing, _ in ends for entry in missing]
        await store.turns.append(entries, [finished for _, finished in ends])


def _build_interruption(
    turn: TurnRow, stored: Sequence[Stamped], now: float
) -> tuple[list[LogEntry], FinishedTurn]:
    """Returns the events missing from the log of a turn that a crash cut off, and its result."""
    # A turn killed between its acceptance and its first commit has no events yet.
    begun = stored or [Stamped(1, 0.0, _build_turn_started(turn))]
    end = Stamped(len(begun) + 1, begun[-1].at_ms, TurnFinished("interrupted"))
    events = [*begun, end]
    folded = transcript.fold(stamped.event for stamped in events)
    missing = [LogEntry(turn.id, stamped) for stamped in events[len(stored) :]]
    return missing, FinishedTurn(turn.id, folded, now)


def _build_turn_started(turn: TurnRow) -> TurnStarted:
    return TurnStarted(
        turn_id=turn.id,
        conversation_id=turn.conversation_id or "",
        action=turn.action,
        model=turn.model,
        is_first_turn=False,
        created_at=turn.created_at,
        sampling=Sampling(),
    )
