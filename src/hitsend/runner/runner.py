"""Starts, finds, follows and stops turns."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import NamedTuple

from hitsend.errors import Overloaded, StoreDown, TooFast, Unavailable
from hitsend.events import AnyEvent, Stamped, TitleChosen, is_end
from hitsend.runner.commit import Batch, Committer
from hitsend.runner.log import TurnLog
from hitsend.runner.news import News, NewsBroker, TitleChanged, TurnBegan, TurnEnded
from hitsend.runner.observer import NoObserver, TurnObserver
from hitsend.runner.recovery import end_interrupted_turns
from hitsend.runner.start_queue import StartQueue
from hitsend.runner.task import END_TIMEOUT_S, TurnTask
from hitsend.store import Store

MAX_TURNS = 512
UNOBSERVED = NoObserver()
REPLAY_EVENTS = 200
"""Events of a finished turn, read at once."""


class _Selection(NamedTuple):
    """A person's turns: all, those in a conversation, or one of them."""

    user_id: str
    conversation_id: str | None
    turn_id: str | None

    def includes(self, turn: TurnLog) -> bool:
        return (
            turn.user_id == self.user_id
            and self.conversation_id in (None, turn.conversation_id)
            and self.turn_id in (None, turn.turn_id)
        )


class Sender(NamedTuple):
    """Who sent a message: room is shared by person, and a person's room by API key."""

    user_id: str
    key_id: str | None
    """None for a session."""


class _Starting(NamedTuple):
    """A turn that is being accepted."""

    sender: Sender
    stops: list[_Selection]
    """Asked for meanwhile."""


class Runner:
    def __init__(
        self,
        store: Store,
        max_turns: int = MAX_TURNS,
        observer: TurnObserver = UNOBSERVED,
    ) -> None:
        self._store = store
        self._observer = observer
        self._max_turns = max_turns
        self._tasks: dict[str, TurnTask] = {}
        self._senders: dict[str, Sender] = {}
        """The sender of each turn that was accepted and has not ended."""
        self._starting: dict[asyncio.Task[TurnLog], _Starting] = {}
        self._start_queue = StartQueue()
        self._committer = Committer(store, lambda: self.num_turns, self._after_commit, observer)
        self._committing: asyncio.Task[None] | None = None
        self._news = NewsBroker()
        self._is_closing = False

    @property
    def is_open(self) -> bool:
        """Whether new turns are taken."""
        return not self._is_closing

    @property
    def num_turns(self) -> int:
        """The turns that are being accepted or have not ended."""
        return len(self._starting) + len(self._senders)

    @property
    def store_problem(self) -> StoreDown | None:
        """Why the events of answers cannot be stored at the moment, so that all of them wait."""
        return self._committer.problem

    @property
    def num_starts_waiting(self) -> int:
        """The Sends that wait for others to start."""
        return self._start_queue.num_waiting

    def load(self) -> float:
        """Returns the share of `max_turns` in use, from 0 to 1."""
        return len(self._list_senders()) / self._max_turns

    def load_of(self, user_id: str) -> float:
        """Returns the share of the room that one person may have in use, from 0 to 1."""
        senders = self._list_senders()
        num_own = sum(sender.user_id == user_id for sender in senders)
        return num_own / max(self._max_turns - len(senders), num_own, 1)

    async def open(self) -> None:
        """Ends the turns that a crash left running, then starts to commit."""
        await self._store.turns.begin_epoch()
        await end_interrupted_turns(self._store)
        await self._store.ledger.release_orphans()
        self._committing = asyncio.create_task(self._committer.run())

    async def start(
        self,
        user_id: str,
        events: AsyncGenerator[AnyEvent, None],
        *,
        key_id: str | None = None,
        ends_with_caller: bool = False,
    ) -> TurnLog:
        """Runs a turn until it is accepted, and from there on in the background. Errors before
        that are raised here, and nothing has been stored. A caller that is cancelled leaves,
        and the turn goes on, because it may be in the store already; with `ends_with_caller` it
        is stopped as soon as it is accepted."""
        sender = Sender(user_id, key_id)
        self._check_room(sender)
        task = TurnTask(user_id, self._store.turns.epoch, events, self._committer.request)
        starting = _Starting(sender, [])
        accepting = asyncio.create_task(self._run_until_accepted(task, starting))
        self._starting[accepting] = starting
        accepting.add_done_callback(self._starting.pop)
        try:
            return await asyncio.shield(accepting)
        except asyncio.CancelledError:
            if ends_with_caller:
                self._stop_unread(accepting, starting)
            raise

    def find(self, turn_id: str, user_id: str) -> TurnLog | None:
        """Returns a running turn of this person."""
        task = self._tasks.get(turn_id)
        return task.log if task is not None and task.log.user_id == user_id else None

    async def follow(
        self, turn_id: str, user_id: str, after: int = 0, heartbeat_s: float | None = None
    ) -> tuple[Sequence[Stamped], AsyncGenerator[Sequence[Stamped], None]]:
        """Returns the events up to number `after`, and the rest as they come, of a running or a
        finished turn."""
        if (turn := self.find(turn_id, user_id)) is not None:
            past = turn.events[:after]
            return past, turn.follow(len(past), heartbeat_s)
        check_readable((await self._store.turns.get(turn_id, user_id)).finished_at)
        past = await self._store.turns.events(turn_id, user_id, limit=after) if after else []
        return past, self.replay(turn_id, user_id, after)

    async def replay(
        self, turn_id: str, user_id: str, after: int
    ) -> AsyncGenerator[Sequence[Stamped], None]:
        """Yields the events of a finished turn. In portions: a slow reader keeps one of them in
        memory, not the whole log."""
        while events := await self._store.turns.events(turn_id, user_id, after, REPLAY_EVENTS):
            yield events
            after = events[-1].seq

    def watch(self, user_id: str) -> AsyncGenerator[News, None]:
        """Yields the person's running turns as begun, then their news as it comes."""
        turns = [task.log for task in self._tasks.values() if task.log.user_id == user_id]
        running = [turn for turn in turns if turn.finished_at is None]
        first = [TurnBegan(turn.turn_id, turn.conversation_id) for turn in running]
        return self._news.watch(user_id, first)

    def publish_title(self, user_id: str, conversation_id: str, title: str) -> None:
        """The person has renamed a conversation."""
        self._news.publish(user_id, TitleChanged(conversation_id, title))

    async def stop(
        self, user_id: str, conversation_id: str | None = None, turn_id: str | None = None
    ) -> None:
        """Ends the person's turns: all, those in a conversation, or one of them. The text so far
        is kept. A turn that is being accepted ends as soon as it is. Raises StoreDown, once all
        have ended, when an end could not be stored."""
        selection = _Selection(user_id, conversation_id, turn_id)
        for starting in self._starting.values():
            starting.stops.append(selection)
        tasks = [task for task in self._tasks.values() if selection.includes(task.log)]
        if ends := [task.end_early("stopped") for task in tasks]:
            await asyncio.wait(ends)
        for problem in [end.exception() for end in ends]:
            if problem:
                raise problem

    def abandon(self, turn: TurnLog) -> None:
        """Ends a turn that nobody will read, without waiting for it."""
        if task := self._tasks.get(turn.turn_id):
            task.end_early("stopped")

    async def drain(self, grace_s: float) -> None:
        """Takes no more turns, and lets those that run finish within `grace_s`."""
        self._is_closing = True
        if self._starting:
            await asyncio.wait(list(self._starting), timeout=END_TIMEOUT_S)
        running = [task.log for task in self._tasks.values() if task.log.finished_at is None]
        if ends := [asyncio.create_task(turn.until_finished()) for turn in running]:
            _, late = await asyncio.wait(ends, timeout=grace_s)
            for waiting in late:
                waiting.cancel()

    async def close(self) -> None:
        """Takes no more turns, and ends those that run. An end that cannot be stored now is
        stored by the next start."""
        await self.drain(0)
        if ends := [task.end_early("interrupted") for task in self._tasks.values()]:
            await asyncio.wait(ends)
        if self._committing:
            self._committing.cancel()
            await asyncio.wait([self._committing])

    async def _run_until_accepted(self, task: TurnTask, starting: _Starting) -> TurnLog:
        async with self._start_queue.hold_place(starting.sender.user_id):
            turn = await task.run_until_accepted(self._check_open)
        self._tasks[turn.turn_id] = task
        self._senders[turn.turn_id] = starting.sender
        self._news.publish(turn.user_id, TurnBegan(turn.turn_id, turn.conversation_id))
        if any(selection.includes(turn) for selection in starting.stops):
            task.end_early("stopped")
        return turn

    def _stop_unread(self, accepting: asyncio.Task[TurnLog], starting: _Starting) -> None:
        if not accepting.done():
            starting.stops.append(_Selection(starting.sender.user_id, None, None))
        elif not accepting.cancelled() and accepting.exception() is None:
            self.abandon(accepting.result())

    def _check_open(self) -> None:
        if self._is_closing:
            raise Unavailable("hitsend is restarting. Try again in a moment.", retry_after_s=2)

    def _list_senders(self) -> list[Sender]:
        """Returns the sender of each turn that is being accepted or has not ended."""
        senders = [starting.sender for starting in self._starting.values()]
        return senders + list(self._senders.values())

    def _check_room(self, sender: Sender) -> None:
        """Checked once, before any work is done for the turn. Room is shared with a dynamic
        threshold: nobody may have more turns than are free, and no API key more than are left of
        its owner's share then. So one person gets at most half of the room and one key a third,
        and there is always some for the next."""
        senders = self._list_senders()
        num_free = self._max_turns - len(senders)
        num_own = sum(one.user_id == sender.user_id for one in senders)
        if num_free <= 0:
            raise Overloaded(
                "Too many answers are being written. Try again in a moment.", retry_after_s=5
            )
        if num_own >= num_free:
            raise TooFast(
                f"{num_own} answers are being written for you, and the room left is for others. "
                "Try again when one has ended.",
                retry_after_s=5,
            )
        if sender.key_id is not None and (num := senders.count(sender)) >= num_free - num_own:
            raise TooFast(
                f"{num} answers are being written for this API key, and the room left is for "
                "others. Try again when one has ended.",
                retry_after_s=5,
            )

    def _after_commit(self, batch: Batch) -> None:
        turn = batch.task.log
        self._observer.count_events(turn.turn_id, turn.model, batch.events, is_last=batch.is_last)
        if turn.finished_at is not None or batch.is_last:
            self._senders.pop(turn.turn_id, None)
        if batch.is_last:
            self._tasks.pop(turn.turn_id, None)
        if self._news.has_watchers(turn.user_id):
            for news in _news(batch):
                self._news.publish(turn.user_id, news)


def check_readable(finished_at: float | None) -> None:
    """Raises Unavailable for a turn that neither runs nor has ended: it was just accepted, or its
    end could not be stored."""
    if finished_at is None:
        raise Unavailable("This answer cannot be read yet. Try again.", retry_after_s=1)


def _news(batch: Batch) -> Iterator[News]:
    turn = batch.task.log
    for stamped in batch.events:
        if isinstance(stamped.event, TitleChosen):
            yield TitleChanged(turn.conversation_id, stamped.event.title)
        elif is_end(stamped.event):
            yield TurnEnded(turn.turn_id, turn.conversation_id)
