"""The task that runs one turn, and its events that are not stored yet."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from itertools import groupby
from typing import cast

import msgspec

from hitsend.crash import crash_here
from hitsend.errors import HitsendError, StoreDown, Unavailable
from hitsend.events import (
    AnyEvent,
    ApprovalDecided,
    Ending,
    MemoriesChanged,
    Stamped,
    TextArrived,
    TitleChosen,
    ToolStarted,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    is_end,
    join_texts,
)
from hitsend.logs import TURN_ID, turn_in_log
from hitsend.runner.log import TurnLog

log = logging.getLogger(__name__)

END_TIMEOUT_S = 5.0
"""How long to wait for the end of a turn to be stored. A full disk may never store it."""

BROKEN = HitsendError("Something broke on our side. It has been logged.")


class TurnTask:
    log: TurnLog
    task: asyncio.Task[None]

    def __init__(
        self,
        user_id: str,
        epoch: int,
        events: AsyncGenerator[AnyEvent, None],
        request_commit: Callable[["TurnTask"], None],
    ) -> None:
        self.is_over = False
        """The turn yields no more events, though some may not be stored yet."""
        self._user_id = user_id
        self._epoch = epoch
        self._events = events
        self._request_commit = request_commit
        self._ending: asyncio.Task[None] | None = None
        """Kept here because the event loop alone would let it be garbage collected."""
        self._began = time.perf_counter()
        self._pending: list[tuple[float, AnyEvent]] = []
        self._num_taken = 0
        self._has_text = False
        self._has_ended = False

    async def run_until_accepted(self, check: Callable[[], None]) -> TurnLog:
        """Runs the turn up to `TurnAccepted`, then goes on in the background. `check` may raise
        until then."""
        async with AsyncExitStack() as unless_accepted:
            unless_accepted.push_async_callback(self._events.aclose)
            check()
            async for event in self._events:
                self._pending.append((self._now_ms(), event))
                if isinstance(event, TurnStarted):
                    self.log = TurnLog(self._user_id, self._epoch, event)
                    TURN_ID.set(event.turn_id)
                if isinstance(event, TurnAccepted):
                    break
                check()
            unless_accepted.pop_all()
        self._request_commit(self)
        self.task = asyncio.create_task(self._run())
        return self.log

    async def _run(self) -> None:
        try:
            async with aclosing(self._events):
                async for event in self._events:
                    self._add(event)
                    if isinstance(event, ToolStarted | ApprovalDecided):
                        # A tool may have effects, so no crash may leave it without a trace.
                        await self.log.until_stored(event)
        except HitsendError as error:
            self._add(_failure(error))
        except Exception:
            # The last resort: a bug ends this turn with an event, not the service.
            log.exception("the turn failed")
            self._add(_failure(BROKEN))
        self._end()

    def end_early(self, ending: Ending) -> asyncio.Task[None]:
        """Ends the turn now, whether or not anyone waits. The task is done when the end is
        stored, and fails with StoreDown when it cannot be."""
        if self._ending is None or self._ending.done():
            self._ending = asyncio.create_task(self._end_early(ending))
            self._ending.add_done_callback(self._log_failed_end)
        return self._ending

    async def _end_early(self, ending: Ending) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
        await self._events.aclose()  # a task cancelled before its first step never entered it
        self._add(TurnFinished(ending))
        self._end()
        try:
            async with asyncio.timeout(END_TIMEOUT_S):
                await self.log.until_closed()
        except TimeoutError:
            raise StoreDown("The end of the answer could not be stored yet.") from None

    def _log_failed_end(self, cutting: asyncio.Task[None]) -> None:
        """Logs the failure, because some callers do not wait for the task."""
        if not cutting.cancelled() and (problem := cutting.exception()):
            with turn_in_log(self.log.turn_id):
                log.warning("the turn ended early, but: %s", problem)

    def fail(self) -> Stamped:
        """Ends the turn after a bug in storing its pending events, which are dropped."""
        self.task.cancel()
        self._has_ended = self.is_over = True
        self._pending.clear()
        stored = self.log.events
        at_ms = stored[-1].at_ms if stored else 0.0
        return Stamped(len(stored) + 1, at_ms, _failure(BROKEN))

    def take_events(self) -> list[Stamped]:
        """Takes the pending events, numbered, with runs of text joined."""
        pending, self._pending = self._pending, []
        if len(pending) > 1:
            pending = _join_runs(pending)
        first = self._num_taken + 1
        self._num_taken += len(pending)
        return [Stamped(first + i, at_ms, event) for i, (at_ms, event) in enumerate(pending)]

    def _add(self, event: AnyEvent) -> None:
        """After its end a turn may only choose a title or suggest a memory."""
        if self._has_ended and not isinstance(event, TitleChosen | MemoriesChanged):
            return
        at_ms = self._now_ms()
        if isinstance(event, TextArrived):
            if not self._has_text and event.text:
                crash_here("before-first-delta")
                self._has_text = True
                event = msgspec.structs.replace(event, first_word_ms=at_ms)
        elif is_end(event):
            self._has_ended = True
        if not self._pending:
            self._request_commit(self)
        self._pending.append((at_ms, event))

    def _end(self) -> None:
        self.is_over = True
        self._request_commit(self)

    def _now_ms(self) -> float:
        return round((time.perf_counter() - self._began) * 1000, 3)


def _join_runs(pending: list[tuple[float, AnyEvent]]) -> list[tuple[float, AnyEvent]]:
    joined: list[tuple[float, AnyEvent]] = []
    for is_text, run in groupby(pending, lambda timed: isinstance(timed[1], TextArrived)):
        if is_text:
            times, texts = zip(*run, strict=True)
            joined.append((times[-1], join_texts(cast(tuple[TextArrived, ...], texts))))
        else:
            joined += run
    return joined


def _failure(error: HitsendError) -> TurnFailed:
    retry_ms = None if error.retry_after_s is None else round(error.retry_after_s * 1000)
    return TurnFailed(error.code, error.message, isinstance(error, Unavailable), retry_ms)
