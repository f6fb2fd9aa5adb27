"""The stored events of a running turn, and its followers."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from hitsend.events import AnyEvent, Stamped, TurnStarted


class TurnLog:
    """The log of a running turn. It holds only events that are on disk."""

    def __init__(self, user_id: str, epoch: int, started: TurnStarted) -> None:
        self.turn_id = started.turn_id
        self.conversation_id = started.conversation_id
        self.model = started.model
        self.user_id = user_id
        self.epoch = epoch
        """The start of the server that runs the turn."""
        self.events: list[Stamped] = []
        self.finished_at: float | None = None
        """When its end was stored. A title may be stored after that."""
        self.is_closed = False
        """No more events will come."""
        self._waits: set[_Wait] = set()

    async def follow(
        self, after: int = 0, heartbeat_s: float | None = None, *, has_afterword: bool = False
    ) -> AsyncGenerator[Sequence[Stamped], None]:
        """Yields batches of the events past number `after`: the stored ones, then new ones as
        they are stored, up to the turn's end. `has_afterword` also waits for what follows it, such
        as a title. Yields an empty batch after each `heartbeat_s` of silence."""
        wait = _Wait(heartbeat_s)
        try:
            while True:
                if batch := self.events[after:]:
                    after = batch[-1].seq
                    yield batch
                elif self.is_closed or (self.finished_at is not None and not has_afterword):
                    return
                else:
                    self._waits.add(wait)
                    if not await wait.until_woken():
                        yield ()
        finally:
            self._waits.discard(wait)
            wait.close()

    async def until_closed(self) -> None:
        await self._read_on(has_afterword=True)

    async def until_finished(self) -> None:
        """Returns once the turn's end is stored, without waiting for a title."""
        await self._read_on(has_afterword=False)

    async def until_stored(self, event: AnyEvent) -> None:
        """Returns once the event, which was just added, is stored; or the turn has ended."""
        async with aclosing(self.follow(len(self.events))) as batches:
            async for batch in batches:
                if any(stamped.event is event for stamped in batch):
                    return

    async def _read_on(self, *, has_afterword: bool) -> None:
        follow = self.follow(len(self.events), has_afterword=has_afterword)
        async with aclosing(follow) as batches:
            async for _ in batches:
                continue

    def publish(self, batch: Sequence[Stamped], is_closed: bool) -> None:
        """Shows events that are stored. A batch may come twice after a bug: it is shown once."""
        num_shown = len(self.events)
        if batch and batch[0].seq <= num_shown:
            batch = [stamped for stamped in batch if stamped.seq > num_shown]
        self.events += batch
        self.is_closed = is_closed
        waits, self._waits = self._waits, set()
        for wait in waits:
            wait.wake()


class _Wait:
    """One follower's wait for news. Its heartbeat timer is set again only when it fires, not for
    every batch: a timer per token would cost more than the token."""

    def __init__(self, heartbeat_s: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._heartbeat_s = heartbeat_s
        self._silent_since = self._loop.time()
        self._woken: asyncio.Future[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        if heartbeat_s is not None:
            self._timer = self._loop.call_later(heartbeat_s, self._beat)

    async def until_woken(self) -> bool:
        """Returns True for new events, False for a heartbeat."""
        self._woken = self._loop.create_future()
        return await self._woken

    def wake(self) -> None:
        self._silent_since = self._loop.time()
        self._resolve(True)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self) -> None:
        assert self._heartbeat_s is not None
        now = self._loop.time()
        if now >= self._silent_since + self._heartbeat_s:
            self._silent_since = now
            self._resolve(False)
        self._timer = self._loop.call_at(self._silent_since + self._heartbeat_s, self._beat)

    def _resolve(self, is_news: bool) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(is_news)
