"""Runs turns, and remembers what happened in them.

A turn belongs to the service, not to the connection that asked for it. Whoever follows it
may leave, come back, and read on from any event; only `stop` ends it early. Every event is
numbered, timed and stored here, and nobody sees it before it is stored.

Events of all turns are committed together: while one commit is on its way to the disk, what
arrives meanwhile waits for the next one, and runs of text are merged. So the cost follows
commits, not tokens, and the pace of the disk sets the pace of commits.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, contextmanager
from itertools import groupby

import msgspec

from hitsend import transcript
from hitsend.errors import HitsendError, StoreDown, Unavailable
from hitsend.events import (
    AnyEvent,
    Ending,
    Stamped,
    TextArrived,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    joined,
)
from hitsend.messages import Sampling
from hitsend.store import Closing, Entry, Store, TurnRow

log = logging.getLogger(__name__)

RETRY_S = 0.5
"""How long to wait before a commit that failed is tried again."""
PATIENCE_S = 5.0
"""How long to wait for the end of a turn to be stored. A disk that refuses may take for ever."""

BROKEN = HitsendError("Something broke on our side. It has been logged.")


class RunningTurn:
    """A turn that goes on now, as far as it is stored."""

    def __init__(self, user_id: str, started: TurnStarted) -> None:
        self.turn_id = started.turn_id
        self.conversation_id = started.conversation_id
        self.user_id = user_id
        self.log: list[Stamped] = []
        self.is_done = False
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

    def publish(self, batch: Sequence[Stamped], is_done: bool) -> None:
        self.log.extend(batch)
        self.is_done = is_done
        self._news.set()
        self._news = asyncio.Event()


class Runner:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._turns: dict[str, _Work] = {}
        self._starting: set[asyncio.Future[None]] = set()
        self._dirty: list[_Work] = []
        self._something = asyncio.Event()
        self._committing: asyncio.Task[None] | None = None
        self._is_closing = False

    async def open(self) -> None:
        """Close what a crash left open, then begin to commit."""
        await self._interrupt_unfinished()
        self._committing = asyncio.create_task(self._commit_forever())

    async def start(self, user_id: str, events: AsyncGenerator[AnyEvent, None]) -> RunningTurn:
        """Run a turn until it is accepted, and from there on in the background. What is
        raised before that belongs to the request: nothing has been stored."""
        work = _Work(user_id, events, self._has_news)
        with self._as_starting():
            turn = await work.until_accepted(self._check_open)
            self._turns[turn.turn_id] = work
        return turn

    async def follow(
        self, turn_id: str, user_id: str, after: int = 0, heartbeat_s: float | None = None
    ) -> tuple[Sequence[Stamped], AsyncGenerator[Sequence[Stamped], None]]:
        """The events up to number `after`, and the rest as it comes, of a turn that runs or
        one that has ended."""
        work = self._turns.get(turn_id)
        if work is not None and work.turn.user_id == user_id:
            past = work.turn.log[:after]
            return past, work.turn.follow(len(past), heartbeat_s)
        events = await self._store.turns.events(turn_id, user_id)
        return events[:after], _told(events[after:])

    async def stop(
        self, user_id: str, conversation_id: str | None = None, turn_id: str | None = None
    ) -> None:
        """End the person's turns: all, those in a conversation, or one of them. What was said
        is kept. Stopping what has ended already does nothing. Raises StoreDown where an end could
        not be stored, once all have ended."""
        cuts = [
            work.begin_cut("stopped")
            for work in self._turns.values()
            if work.turn.user_id == user_id
            and conversation_id in (None, work.turn.conversation_id)
            and turn_id in (None, work.turn.turn_id)
        ]
        if cuts:
            await asyncio.wait(cuts)
        for problem in [cut.exception() for cut in cuts]:
            if problem:
                raise problem

    def abandon(self, turn: RunningTurn) -> None:
        """End a turn that nobody will read, without waiting for it."""
        if work := self._turns.get(turn.turn_id):
            work.begin_cut("stopped")

    async def close(self) -> None:
        """Take no more turns, and end those that run. What was said is kept; what cannot be
        stored now is closed by the next start."""
        self._is_closing = True
        if self._starting:
            await asyncio.wait(self._starting, timeout=PATIENCE_S)
        cuts = [work.begin_cut("interrupted") for work in self._turns.values()]
        if cuts:
            await asyncio.wait(cuts)
        if self._committing:
            self._committing.cancel()
            await asyncio.wait([self._committing])

    def _check_open(self) -> None:
        if self._is_closing:
            raise Unavailable("hitsend is restarting. Try again in a moment.", retry_after_s=2)

    @contextmanager
    def _as_starting(self) -> Iterator[None]:
        """`close` waits for turns that are just being accepted."""
        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._starting.add(started)
        try:
            yield
        finally:
            self._starting.discard(started)
            started.set_result(None)

    def _has_news(self, work: "_Work") -> None:
        self._dirty.append(work)
        self._something.set()

    async def _commit_forever(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            works, self._dirty = self._dirty, []
            batches = [(work, batch) for work in works if (batch := work.take())]
            if not await self._committed(batches):
                # One turn's trouble is not the others': each is tried by itself.
                for work, batch in batches:
                    await self._commit_alone(work, batch)

    async def _commit_alone(self, work: "_Work", batch: list[Stamped]) -> None:
        if await self._committed([(work, batch)]):
            return
        if not await self._committed([(work, [work.fail()])]):
            self._turns.pop(work.turn.turn_id, None)  # the next start closes it
            work.turn.publish((), is_done=True)

    async def _committed(self, batches: Sequence[tuple["_Work", list[Stamped]]]) -> bool:
        """A bug must not end the committer: with it, every turn would stand still."""
        try:
            await self._commit(batches)
        except Exception:
            log.exception("a commit failed")
            return False
        return True

    async def _commit(self, batches: Sequence[tuple["_Work", list[Stamped]]]) -> None:
        await self._stored(
            [Entry(work.turn.turn_id, stamped) for work, batch in batches for stamped in batch],
            [_closing(work.turn, batch) for work, batch in batches if _is_last(batch)],
        )
        for work, batch in batches:
            if _is_last(batch):
                self._turns.pop(work.turn.turn_id, None)
            work.turn.publish(batch, _is_last(batch))

    async def _stored(self, entries: Sequence[Entry], closings: Sequence[Closing]) -> None:
        """Returns when it is on disk. While the disk refuses, nobody is shown anything new."""
        while True:
            try:
                return await self._store.turns.append(entries, closings)
            except StoreDown as error:
                log.error("events could not be stored, trying again: %s", error)
                await asyncio.sleep(RETRY_S)

    async def _interrupt_unfinished(self) -> None:
        for turn in await self._store.turns.unfinished():
            log_so_far = await self._store.turns.all_events(turn.id)
            # Accepted, and killed before its first commit: the row knows how it began.
            begun = log_so_far or [Stamped(1, 0.0, _started(turn))]
            last = Stamped(len(begun) + 1, begun[-1].at_ms, TurnFinished("interrupted"))
            whole = [*begun, last]
            said = transcript.fold(stamped.event for stamped in whole)
            await self._store.turns.append(
                [Entry(turn.id, stamped) for stamped in whole[len(log_so_far) :]],
                [Closing(turn.id, said, time.time())],
            )


class _Work:
    """The task that runs a turn, and what it has to tell that is not stored yet."""

    turn: RunningTurn
    task: asyncio.Task[None]

    def __init__(
        self, user_id: str, events: AsyncGenerator[AnyEvent, None], tell: Callable[["_Work"], None]
    ) -> None:
        self._user_id = user_id
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
                    self.turn = RunningTurn(self._user_id, event)
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

    def begin_cut(self, ending: Ending) -> asyncio.Task[None]:
        """End the turn now, whether or not anyone waits for it. Done when its end is stored;
        fails with StoreDown if it cannot be."""
        if self._cutting is None or self._cutting.done():
            self._cutting = asyncio.create_task(self._cut(ending))
        return self._cutting

    async def _cut(self, ending: Ending) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
        await self._events.aclose()  # a task cancelled before its first step never entered it
        self._add(TurnFinished(ending))
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self.turn.until_done()
        except TimeoutError:
            raise StoreDown("The end of the answer could not be stored yet.") from None

    def fail(self) -> Stamped:
        """End it after a bug: what it still had to tell cannot be told."""
        self.task.cancel()
        self._has_ended = True
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
        if self._has_ended:
            return
        self._has_ended = isinstance(event, TurnFinished | TurnFailed)
        if not self._untold:
            self._tell(self)
        at_ms = self._now_ms()
        if not self._has_spoken and isinstance(event, TextArrived) and event.text:
            self._has_spoken = True
            event = msgspec.structs.replace(event, first_word_ms=at_ms)
        self._untold.append((at_ms, event))

    def _now_ms(self) -> float:
        return round((time.perf_counter() - self._began) * 1000, 3)


def _joined(run: Iterator[tuple[float, AnyEvent]]) -> tuple[float, AnyEvent]:
    times, arrivals = zip(*run, strict=True)
    return times[-1], joined(arrivals)


async def _told(events: Sequence[Stamped]) -> AsyncGenerator[Sequence[Stamped], None]:
    if events:
        yield events


def _is_last(batch: Sequence[Stamped]) -> bool:
    return isinstance(batch[-1].event, TurnFinished | TurnFailed)


def _started(turn: TurnRow) -> TurnStarted:
    return TurnStarted(
        turn_id=turn.id,
        conversation_id=turn.conversation_id or "",
        action=turn.action,
        model=turn.model,
        is_first_turn=False,
        created_at=turn.created_at,
        sampling=Sampling(),
    )


def _closing(turn: RunningTurn, batch: Sequence[Stamped]) -> Closing:
    said = transcript.fold(stamped.event for stamped in [*turn.log, *batch])
    return Closing(turn.turn_id, said, time.time())


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
