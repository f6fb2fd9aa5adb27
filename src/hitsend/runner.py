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
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from hitsend import transcript
from hitsend.crash import crash_here
from hitsend.errors import Overloaded, StoreDown, Unavailable
from hitsend.events import (
    AnyEvent,
    Stamped,
    TextArrived,
    TitleChosen,
    TurnFinished,
    TurnStarted,
)
from hitsend.mailbox import Mailbox
from hitsend.messages import Sampling
from hitsend.store import Closing, Entry, Store, TurnRow
from hitsend.work import PATIENCE_S, RunningTurn, Work, is_end

log = logging.getLogger(__name__)

RETRY_S = 0.5
"""How long to wait before a commit that failed is tried again."""
MAX_TURNS = 512
PORTION = 200
"""Events of a turn that has ended, read at once."""
NUM_CLOSED_AT_ONCE = 50
"""Of the turns that a crash left open: in one read and one write."""


class TurnBegan(msgspec.Struct, frozen=True):
    turn_id: str
    conversation_id: str


class TurnEnded(msgspec.Struct, frozen=True):
    turn_id: str
    conversation_id: str


class TitleChanged(msgspec.Struct, frozen=True):
    conversation_id: str
    title: str


News: TypeAlias = TurnBegan | TurnEnded | TitleChanged
"""What somebody with several windows open wants to know of their turns."""


class _Which(NamedTuple):
    """A person's turns: all, those in a conversation, or one of them."""

    user_id: str
    conversation_id: str | None
    turn_id: str | None

    def has(self, turn: RunningTurn) -> bool:
        return (
            turn.user_id == self.user_id
            and self.conversation_id in (None, turn.conversation_id)
            and self.turn_id in (None, turn.turn_id)
        )


class _Batch(NamedTuple):
    """What a turn has to tell, and whether that is all."""

    work: Work
    events: list[Stamped]
    is_done: bool

    @property
    def has_end(self) -> bool:
        return any(is_end(stamped.event) for stamped in self.events)

    @property
    def has_text(self) -> bool:
        return any(isinstance(stamped.event, TextArrived) for stamped in self.events)


class Runner:
    def __init__(self, store: Store, max_turns: int = MAX_TURNS) -> None:
        self._store = store
        self._max_turns = max_turns
        self._turns: dict[str, Work] = {}
        self._starting: dict[asyncio.Task[RunningTurn], list[_Which]] = {}
        """Turns that are being accepted, and what was to be stopped meanwhile."""
        self._dirty: list[Work] = []
        self._something = asyncio.Event()
        self._committing: asyncio.Task[None] | None = None
        self._watchers: defaultdict[str, set[Mailbox[News]]] = defaultdict(set)
        self._is_closing = False

    @property
    def is_open(self) -> bool:
        """Whether new turns are taken."""
        return not self._is_closing

    def load(self) -> float:
        """How much of the room for turns is taken, from 0 to 1."""
        num_running = sum(work.turn.finished_at is None for work in self._turns.values())
        return (num_running + len(self._starting)) / self._max_turns

    async def open(self) -> None:
        """Close what a crash left open, then begin to commit."""
        await self._store.turns.begin_epoch()
        await self._interrupt_unfinished()
        await self._store.ledger.release_left()
        self._committing = asyncio.create_task(self._commit_forever())

    async def start(self, user_id: str, events: AsyncGenerator[AnyEvent, None]) -> RunningTurn:
        """Run a turn until it is accepted, and from there on in the background. What is
        raised before that belongs to the request: nothing has been stored. A caller that is
        cancelled leaves, and the turn goes on: it may be in the store already."""
        self._check_room()
        work = Work(user_id, self._store.turns.epoch, events, self._has_news)
        stops: list[_Which] = []
        accepting = asyncio.create_task(self._accepted(work, stops))
        self._starting[accepting] = stops
        accepting.add_done_callback(self._starting.pop)
        return await asyncio.shield(accepting)

    def find(self, turn_id: str, user_id: str) -> RunningTurn | None:
        """A turn of theirs that runs now."""
        work = self._turns.get(turn_id)
        return work.turn if work is not None and work.turn.user_id == user_id else None

    async def follow(
        self, turn_id: str, user_id: str, after: int = 0, heartbeat_s: float | None = None
    ) -> tuple[Sequence[Stamped], AsyncGenerator[Sequence[Stamped], None]]:
        """The events up to number `after`, and the rest as it comes, of a turn that runs or
        one that has ended."""
        if (turn := self.find(turn_id, user_id)) is not None:
            past = turn.log[:after]
            return past, turn.follow(len(past), heartbeat_s)
        check_readable((await self._store.turns.get(turn_id, user_id)).finished_at)
        past = await self._store.turns.events(turn_id, user_id, most=after) if after else []
        return past, self.tell_again(turn_id, user_id, after)

    async def tell_again(
        self, turn_id: str, user_id: str, after: int
    ) -> AsyncGenerator[Sequence[Stamped], None]:
        """A turn that has ended, as if it came now. In portions: one who reads slowly, or not at
        all, keeps one of them in memory and not the whole."""
        while events := await self._store.turns.events(turn_id, user_id, after, PORTION):
            yield events
            after = events[-1].seq

    async def watch(self, user_id: str) -> AsyncGenerator[News, None]:
        """What becomes of the person's turns: those that run, and what happens from now on."""
        queue: Mailbox[News] = Mailbox()
        for turn in [work.turn for work in self._turns.values() if work.turn.user_id == user_id]:
            if turn.finished_at is None:
                queue.put_nowait(TurnBegan(turn.turn_id, turn.conversation_id))
        self._watchers[user_id].add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._watchers[user_id].discard(queue)
            if not self._watchers[user_id]:
                del self._watchers[user_id]

    def tell_title(self, user_id: str, conversation_id: str, title: str) -> None:
        """To whoever watches: the person has renamed a conversation."""
        self._tell(user_id, TitleChanged(conversation_id, title))

    async def stop(
        self, user_id: str, conversation_id: str | None = None, turn_id: str | None = None
    ) -> None:
        """End the person's turns: all, those in a conversation, or one of them. What was said
        is kept. Stopping what has ended already does nothing; what is just being accepted ends as
        soon as it is. Raises StoreDown where an end could not be stored, once all have ended."""
        which = _Which(user_id, conversation_id, turn_id)
        for stops in self._starting.values():
            stops.append(which)
        works = [work for work in self._turns.values() if which.has(work.turn)]
        if cuts := [work.begin_cut("stopped") for work in works]:
            await asyncio.wait(cuts)
        for problem in [cut.exception() for cut in cuts]:
            if problem:
                raise problem

    def abandon(self, turn: RunningTurn) -> None:
        """End a turn that nobody will read, without waiting for it."""
        if work := self._turns.get(turn.turn_id):
            work.begin_cut("stopped")

    async def drain(self, grace_s: float) -> None:
        """Take no more turns, and let those that run come to their end, but not for ever."""
        self._is_closing = True
        if self._starting:
            await asyncio.wait(list(self._starting), timeout=PATIENCE_S)
        running = [work.turn for work in self._turns.values() if work.turn.finished_at is None]
        if ends := [asyncio.create_task(turn.until_finished()) for turn in running]:
            _, late = await asyncio.wait(ends, timeout=grace_s)
            for waiting in late:
                waiting.cancel()

    async def close(self) -> None:
        """Take no more turns, and end those that run. What was said is kept; what cannot be
        stored now is closed by the next start."""
        await self.drain(0)
        cuts = [work.begin_cut("interrupted") for work in self._turns.values()]
        if cuts:
            await asyncio.wait(cuts)
        if self._committing:
            self._committing.cancel()
            await asyncio.wait([self._committing])

    async def _accepted(self, work: Work, stops: Sequence[_Which]) -> RunningTurn:
        turn = await work.until_accepted(self._check_open)
        self._turns[turn.turn_id] = work
        self._tell(turn.user_id, TurnBegan(turn.turn_id, turn.conversation_id))
        if any(which.has(turn) for which in stops):
            work.begin_cut("stopped")
        return turn

    def _check_open(self) -> None:
        if self._is_closing:
            raise Unavailable("hitsend is restarting. Try again in a moment.", retry_after_s=2)

    def _check_room(self) -> None:
        """Asked once, before anything is done for the turn: who is let in stays in."""
        if self.load() >= 1:
            raise Overloaded(
                "Too many answers are being written. Try again in a moment.", retry_after_s=5
            )

    def _has_news(self, work: Work) -> None:
        self._dirty.append(work)
        self._something.set()

    async def _commit_forever(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            works, self._dirty = self._dirty, []
            batches = [_Batch(work, work.take(), work.is_over) for work in dict.fromkeys(works)]
            if not await self._committed(batches):
                # One turn's trouble is not the others': each is tried by itself.
                for batch in batches:
                    await self._commit_alone(batch)

    async def _commit_alone(self, batch: _Batch) -> None:
        work = batch.work
        if await self._committed([batch]):
            return
        failed = _Batch(work, [work.fail()], is_done=True)
        # After its end only a title is lost. Else the next start closes it.
        if work.turn.finished_at is not None or not await self._committed([failed]):
            self._turns.pop(work.turn.turn_id, None)
            work.turn.publish((), is_done=True)

    async def _committed(self, batches: Sequence[_Batch]) -> bool:
        """A bug must not end the committer: with it, every turn would stand still."""
        now = time.time()
        try:
            await self._commit(batches, now)
            for batch in batches:
                self._publish(batch, now)
        except Exception:
            log.exception("a commit failed")
            return False
        crash_here("after-first-delta", lambda: any(batch.has_text for batch in batches))
        return True

    async def _commit(self, batches: Sequence[_Batch], now: float) -> None:
        entries = [
            Entry(batch.work.turn.turn_id, stamped) for batch in batches for stamped in batch.events
        ]
        closings = [_closing(batch, now) for batch in batches if _closes(batch)]
        crash_here("before-final", lambda: bool(closings))
        if entries:
            await self._stored(entries, closings)
        crash_here("after-final", lambda: bool(closings))

    def _publish(self, batch: _Batch, now: float) -> None:
        turn = batch.work.turn
        if batch.is_done:
            self._turns.pop(turn.turn_id, None)
        if batch.has_end and turn.finished_at is None:
            turn.finished_at = now
        turn.publish(batch.events, batch.is_done)
        if self._watchers and turn.user_id in self._watchers:
            for news in _news(batch):
                self._tell(turn.user_id, news)

    def _tell(self, user_id: str, news: News) -> None:
        for queue in self._watchers.get(user_id, ()):
            queue.put_nowait(news)

    async def _stored(self, entries: Sequence[Entry], closings: Sequence[Closing]) -> None:
        """Returns when it is on disk. While the disk refuses, nobody is shown anything new."""
        while True:
            try:
                return await self._store.turns.append(entries, closings)
            except StoreDown as error:
                log.error("events could not be stored, trying again: %s", error)
                await asyncio.sleep(RETRY_S)

    async def _interrupt_unfinished(self) -> None:
        turns, now = await self._store.turns.unfinished(), time.time()
        for start in range(0, len(turns), NUM_CLOSED_AT_ONCE):
            some = turns[start : start + NUM_CLOSED_AT_ONCE]
            logs = await self._store.turns.logs([turn.id for turn in some])
            ends = [_interrupted(turn, logs[turn.id], now) for turn in some]
            entries = [entry for missing, _ in ends for entry in missing]
            await self._store.turns.append(entries, [closing for _, closing in ends])


def _interrupted(
    turn: TurnRow, log_so_far: Sequence[Stamped], now: float
) -> tuple[list[Entry], Closing]:
    """What is missing from the log of a turn that a crash cut off, and what it comes to."""
    # Accepted, and killed before its first commit: the row knows how it began.
    begun = log_so_far or [Stamped(1, 0.0, _started(turn))]
    last = Stamped(len(begun) + 1, begun[-1].at_ms, TurnFinished("interrupted"))
    whole = [*begun, last]
    said = transcript.fold(stamped.event for stamped in whole)
    missing = [Entry(turn.id, stamped) for stamped in whole[len(log_so_far) :]]
    return missing, Closing(turn.id, said, now)


def check_readable(finished_at: float | None) -> None:
    """Of a turn that does not run. Without an end it is on its way from the store to the runner,
    or was left behind by a disk that refused."""
    if finished_at is None:
        raise Unavailable("This answer cannot be read yet. Try again.", retry_after_s=1)


def _news(batch: _Batch) -> Iterator[News]:
    turn = batch.work.turn
    for stamped in batch.events:
        if isinstance(stamped.event, TitleChosen):
            yield TitleChanged(turn.conversation_id, stamped.event.title)
        elif is_end(stamped.event):
            yield TurnEnded(turn.turn_id, turn.conversation_id)


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


def _closes(batch: _Batch) -> bool:
    """Whether what conversations show changes: at the end, and by a title that comes after it."""
    return batch.has_end or (batch.work.turn.finished_at is not None and bool(batch.events))


def _closing(batch: _Batch, now: float) -> Closing:
    turn = batch.work.turn
    said = transcript.fold(stamped.event for stamped in [*turn.log, *batch.events])
    return Closing(turn.turn_id, said, turn.finished_at or now)
