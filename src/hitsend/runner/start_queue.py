"""Starts a few Sends at a time, so that a burst of them does not hold up the answers that run.

Starting a Send (steps 2 to 6: its context, its tokens and its transaction) takes a few milliseconds
of the event loop and of the database. If hundreds began at once, each of them, and every word of
every running answer, would wait for all of them. Instead they queue here, each person in turn. A
Send that has waited too long is refused.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from hitsend.errors import Overloaded

AT_ONCE = 4
LONGEST_WAIT_S = 0.8
LONGEST_HOLD_S = 0.25
"""A Send that takes longer waits for something else, such as a model that is loading. It goes on,
and its place is free."""


class StartQueue:
    def __init__(
        self,
        at_once: int = AT_ONCE,
        longest_wait_s: float = LONGEST_WAIT_S,
        longest_hold_s: float = LONGEST_HOLD_S,
    ) -> None:
        self._num_free = at_once
        self._longest_wait_s = longest_wait_s
        self._longest_hold_s = longest_hold_s
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """The waiting Sends of each person; the people in the order they are served."""

    @property
    def num_waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def hold_place(self, user_id: str) -> AsyncGenerator[None]:
        """Waits for a place and holds it while the context is open. Raises Overloaded."""
        if self._num_free:
            self._num_free -= 1
        else:
            await self._wait(user_id)
        place = _Place(self, self._longest_hold_s)
        try:
            yield
        finally:
            place.leave()

    def free_place(self) -> None:
        """Gives the place to the next person in line who still waits."""
        while self._waiting:
            user_id = next(iter(self._waiting))
            line = self._waiting.pop(user_id)
            waiting = line.popleft()
            if line:
                self._waiting[user_id] = line  # at the back
            if not waiting.done():
                waiting.set_result(None)
                return
        self._num_free += 1

    async def _wait(self, user_id: str) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user_id, deque()).append(waiting)
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await waiting
        except (TimeoutError, asyncio.CancelledError) as error:
            if not waiting.cancelled():  # it was given a place at that very moment
                self.free_place()
            if isinstance(error, asyncio.CancelledError):
                raise
            raise Overloaded(
                "Too many messages arrive at once. Try again in a moment.", retry_after_s=2
            ) from None


class _Place:
    """A place that is freed once: when its holder leaves, or has held it too long."""

    def __init__(self, queue: StartQueue, longest_hold_s: float) -> None:
        self._queue: StartQueue | None = queue
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(longest_hold_s, self.leave)

    def leave(self) -> None:
        self._timer.cancel()
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.free_place()
