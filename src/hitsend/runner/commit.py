"""Group commit: the events of all turns are stored together, then shown.

Events that arrive during a commit, and in the rest after it, wait for the next one. So the cost
depends on the number of commits, not of tokens, and a slower disk makes fewer, larger commits.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hitsend import transcript
from hitsend.crash import crash_here
from hitsend.errors import StoreDown
from hitsend.events import Stamped, TextArrived, is_end
from hitsend.logs import turn_in_log
from hitsend.runner.observer import TurnObserver
from hitsend.runner.task import TurnTask
from hitsend.store import FinishedTurn, LogEntry, Store

log = logging.getLogger(__name__)

RETRY_S = 0.5
"""How long to wait before a commit that failed is tried again."""

REST_S_PER_TURN = 0.00005
LONGEST_REST_S = 0.01
"""With hundreds of turns some token arrives all the time. Without a rest between commits, each
commit would have two or three of them, and cost more than they do."""
SHORTEST_REST_S = 0.001
"""The event loop counts in milliseconds. A few turns are committed without a rest."""


class Batch(NamedTuple):
    """Events of one turn that are stored together."""

    task: TurnTask
    events: list[Stamped]
    is_last: bool
    """No more events of this turn will come."""
    has_end: bool

    @classmethod
    def take(cls, task: TurnTask) -> "Batch":
        is_last, events = task.is_over, task.take_events()
        has_end = any(is_end(stamped.event) for stamped in events)
        return cls(task, events, is_last, has_end)


class Committer:
    """`on_commit` is called with each batch once it is stored and shown."""

    def __init__(
        self,
        store: Store,
        count_turns: Callable[[], int],
        on_commit: Callable[[Batch], None],
        observer: TurnObserver,
    ) -> None:
        self._store = store
        self._observer = observer
        self._count_turns = count_turns
        self._on_commit = on_commit
        self._dirty: list[TurnTask] = []
        self._wakeup = asyncio.Event()
        self.problem: StoreDown | None = None
        """Why events cannot be stored at the moment."""

    def request(self, task: TurnTask) -> None:
        """The task has pending events."""
        self._dirty.append(task)
        self._wakeup.set()

    async def run(self) -> None:
        """Commits until it is cancelled."""
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            tasks, self._dirty = self._dirty, []
            batches = [Batch.take(task) for task in dict.fromkeys(tasks)]
            if not await self._try_commit(batches):
                # Commit each batch alone, so that one bad turn does not block the others.
                for batch in batches:
                    await self._commit_alone(batch)
            await self._rest()

    async def _rest(self) -> None:
        rest_s = min(self._count_turns() * REST_S_PER_TURN, LONGEST_REST_S)
        if rest_s >= SHORTEST_REST_S:
            await asyncio.sleep(rest_s)

    async def _commit_alone(self, batch: Batch) -> None:
        task = batch.task
        with turn_in_log(task.log.turn_id):
            if await self._try_commit([batch]):
                return
            is_finished = task.log.finished_at is not None
            failed = Batch(task, [task.fail()], is_last=True, has_end=True)
            # After the turn's end only a title is lost. Else the next start of the server ends it.
            if is_finished or not await self._try_commit([failed]):
                self._show(Batch(task, [], is_last=True, has_end=False), time.time())

    async def _try_commit(self, batches: Sequence[Batch]) -> bool:
        """Returns False after a bug."""
        now = time.time()
        try:
            await self._store_batches(batches, now)
            for batch in batches:
                self._show(batch, now)
        except Exception:
            # A bug in storing one turn must not end the committer: every turn depends on it.
            log.exception("the commit of %d turns failed", len(batches))
            return False
        crash_here("after-first-delta", lambda: any(map(_has_text, batches)))
        return True

    async def _store_batches(self, batches: Sequence[Batch], now: float) -> None:
        """Retries until the events are on disk. Until then no follower sees them."""
        entries = [
            LogEntry(batch.task.log.turn_id, stamped)
            for batch in batches
            for stamped in batch.events
        ]
        finished = [_finished_turn(batch, now) for batch in batches if _changes_messages(batch)]
        crash_here("before-final", lambda: bool(finished))
        is_stored = not entries
        while not is_stored:
            began = time.perf_counter()
            try:
                await self._store.turns.append(entries, finished)
                is_stored, self.problem = True, None
                self._observer.count_commit(len(entries), time.perf_counter() - began)
            except StoreDown as error:
                self.problem = error
                self._observer.count_failed_commit()
                log.error("events could not be stored, trying again: %s", error)
                await asyncio.sleep(RETRY_S)
        crash_here("after-final", lambda: bool(finished))

    def _show(self, batch: Batch, now: float) -> None:
        turn_log = batch.task.log
        if batch.has_end and turn_log.finished_at is None:
            turn_log.finished_at = now
        turn_log.publish(batch.events, batch.is_last)
        self._on_commit(batch)


def _has_text(batch: Batch) -> bool:
    return any(isinstance(stamped.event, TextArrived) for stamped in batch.events)


def _changes_messages(batch: Batch) -> bool:
    """The end of a turn changes its conversation, and so does a title that comes after it."""
    return batch.has_end or (batch.task.log.finished_at is not None and bool(batch.events))


def _finished_turn(batch: Batch, now: float) -> FinishedTurn:
    turn_log = batch.task.log
    folded = transcript.fold(stamped.event for stamped in [*turn_log.events, *batch.events])
    return FinishedTurn(turn_log.turn_id, folded, turn_log.finished_at or now)
