"""A turn under way: the task that runs it, and its log as far as that is stored.

`Work` collects what the turn says until the runner commits it; `RunningTurn` is what others
see of it, which is only what is on disk.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from itertools import groupby

import msgspec

from hitsend.crash import crash_here
from hitsend.errors import HitsendError, StoreDown, Unavailable
from hitsend.events import (
    AnyEvent,
    Ending,
    MemoriesChanged,
    Stamped,
    TextArrived,
    TitleChosen,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    joined,
)

log = logging.getLogger(__name__)

PATIENCE_S = 5.0
"""How long to wait for the end of a turn to be stored. A disk that refuses may take for ever."""

BROKEN = HitsendError("Something broke on our side. It has been logged.")


class RunningTurn:
    """A turn that goes on now, as far as it is stored."""

    def __init__(self, user_id: str, epoch: int, started: TurnStarted) -> None:
        self.turn_id = started.turn_id
        self.conversation_id = started.conversation_id
        self.user_id = user_id
        self.epoch = epoch
        """Which start of the server runs it."""
        self.log: list[Stamped] = []
        self.finished_at: float | None = None
        """When its end was stored. A title may come after that."""
        self.is_done = False
        """Nothing more will be said."""
        self._news = asyncio.Event()

    async def follow(
        self, after: int = 0, heartbeat_s: float | None = None
    ) -> AsyncGenerator[Sequence[Stamped], None]:
        """Batches of every event past number `after`: those that were, then those that come.
        An empty batch says that the turn is alive but has been silent for a while."""
        while True:
            news = self._news  # taken before reading, so nothing slips in between
            if batch := self.log[after:]:
                after = batch[-1].seq
                yield batch
            elif self.is_done:
                return
            elif not await _within(news.wait(), heartbeat_s):
                yield ()

    async def until_done(self) -> None:
        async with aclosing(self.follow(len(self.log))) as batches:
            async for _ in batches:
                continue

    async def until_finished(self) -> None:
        """Until its end is stored. It may still look for a title then."""
        if self.finished_at is not None:
            return
        async with aclosing(self.follow(len(self.log))) as batches:
            async for _ in batches:
                if self.finished_at is not None:
                    return

    def publish(self, batch: Sequence[Stamped], is_done: bool) -> None:
        """What was shown before is not shown again: a batch may come twice after a bug."""
        num_shown = len(self.log)
        self.log += [stamped for stamped in batch if stamped.seq > num_shown]
        self.is_done = is_done
        self._news.set()
        self._news = asyncio.Event()


class Work:
    """The task that runs a turn, and what it has to tell that is not stored yet."""

    turn: RunningTurn
    task: asyncio.Task[None]

    def __init__(
        self,
        user_id: str,
        epoch: int,
        events: AsyncGenerator[AnyEvent, None],
        tell: Callable[["Work"], None],
    ) -> None:
        self.is_over = False
        """It has said all it will ever say, though not all of that may be stored."""
        self._user_id = user_id
        self._epoch = epoch
        self._events = events
        self._tell = tell
        self._cutting: asyncio.Task[None] | None = None
        """Kept here because the event loop alone would let it be collected half-way."""
        self._began = time.perf_counter()
        self._untold: list[tuple[float, AnyEvent]] = []
        self._num_told = 0
        self._has_spoken = False
        self._has_ended = False

    async def until_accepted(self, check: Callable[[], None]) -> RunningTurn:
        """`check` may object, until the turn is accepted."""
        async with AsyncExitStack() as unless_accepted:
            unless_accepted.push_async_callback(self._events.aclose)
            check()
            async for event in self._events:
                self._untold.append((self._now_ms(), event))
                if isinstance(event, TurnStarted):
                    self.turn = RunningTurn(self._user_id, self._epoch, event)
                if isinstance(event, TurnAccepted):
                    break
                check()
            unless_accepted.pop_all()
        self._tell(self)
        self.task = asyncio.create_task(self._run())
        return self.turn

    async def _run(self) -> None:
        try:
            async with aclosing(self._events):
                async for event in self._events:
                    self._add(event)
        except HitsendError as error:
            self._add(_failure(error))
        except Exception:
            # The last stop: a bug ends this turn, not the service.
            log.exception("turn %s failed", self.turn.turn_id)
            self._add(_failure(BROKEN))
        self._end()

    def begin_cut(self, ending: Ending) -> asyncio.Task[None]:
        """End the turn now, whether or not anyone waits for it. Done when its end is stored;
        fails with StoreDown if it cannot be."""
        if self._cutting is None or self._cutting.done():
            self._cutting = asyncio.create_task(self._cut(ending))
            self._cutting.add_done_callback(self._note_cut)
        return self._cutting

    async def _cut(self, ending: Ending) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
        await self._events.aclose()  # a task cancelled before its first step never entered it
        self._add(TurnFinished(ending))
        self._end()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self.turn.until_done()
        except TimeoutError:
            raise StoreDown("The end of the answer could not be stored yet.") from None

    def _note_cut(self, cut: asyncio.Task[None]) -> None:
        """Not everyone who cuts a turn waits for it."""
        if not cut.cancelled() and (problem := cut.exception()):
            log.warning("turn %s was cut, but: %s", self.turn.turn_id, problem)

    def fail(self) -> Stamped:
        """End it after a bug: what it still had to tell cannot be told."""
        self.task.cancel()
        self._has_ended = self.is_over = True
        self._untold.clear()
        log_so_far = self.turn.log
        at_ms = log_so_far[-1].at_ms if log_so_far else 0.0
        return Stamped(len(log_so_far) + 1, at_ms, _failure(BROKEN))

    def take(self) -> list[Stamped]:
        """What happened since the last time, numbered, with runs of text as one event."""
        untold, self._untold = self._untold, []
        batch = []
        for is_text, run in groupby(untold, lambda timed: isinstance(timed[1], TextArrived)):
            for at_ms, event in [_joined(run)] if is_text else run:
                self._num_told += 1
                batch.append(Stamped(self._num_told, at_ms, event))
        return batch

    def _add(self, event: AnyEvent) -> None:
        """After its end a turn may name the conversation and suggest what to remember: no more."""
        if self._has_ended and not isinstance(event, TitleChosen | MemoriesChanged):
            return
        self._has_ended = self._has_ended or is_end(event)
        if not self._untold:
            self._tell(self)
        at_ms = self._now_ms()
        if not self._has_spoken and isinstance(event, TextArrived) and event.text:
            crash_here("before-first-delta")
            self._has_spoken = True
            event = msgspec.structs.replace(event, first_word_ms=at_ms)
        self._untold.append((at_ms, event))

    def _end(self) -> None:
        self.is_over = True
        self._tell(self)

    def _now_ms(self) -> float:
        return round((time.perf_counter() - self._began) * 1000, 3)


def is_end(event: AnyEvent) -> bool:
    """Of the turn: the answer is over, and so is the message's journey."""
    return isinstance(event, TurnFinished | TurnFailed)


def _joined(run: Iterator[tuple[float, AnyEvent]]) -> tuple[float, AnyEvent]:
    times, arrivals = zip(*run, strict=True)
    return times[-1], joined(arrivals)


def _failure(error: HitsendError) -> TurnFailed:
    retry_ms = None if error.retry_after_s is None else round(error.retry_after_s * 1000)
    return TurnFailed(error.code, error.message, isinstance(error, Unavailable), retry_ms)


async def _within(wait: Coroutine[None, None, object], seconds: float | None) -> bool:
    """Whether it came in time."""
    try:
        async with asyncio.timeout(seconds):
            await wait
    except TimeoutError:
        return False
    return True
