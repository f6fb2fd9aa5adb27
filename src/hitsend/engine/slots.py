"""Who may answer now. First come, first served, and never more than fits.

llama.cpp shares one pool of cells among its slots and ends everyone's answer when the pool is
full. So a prompt is let in only when it and its longest answer fit beside the others.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

TELL_S = 1.0
"""How often those who wait are told how many are before them. Each telling is stored."""


class Place:
    """Of one answer: in the queue at first, perhaps, and then in a slot."""

    def __init__(self, num_tokens: int) -> None:
        self.num_tokens = num_tokens
        self.is_in = asyncio.Event()


class Slots:
    def __init__(self, num_slots: int, num_pool_tokens: int, tell_s: float = TELL_S) -> None:
        self.num_slots = num_slots
        self.num_busy = 0
        self._num_free_tokens = num_pool_tokens
        self._tell_s = tell_s
        self._queue: deque[Place] = deque()

    @property
    def num_waiting(self) -> int:
        return len(self._queue)

    @property
    def is_idle(self) -> bool:
        return not self.num_busy and not self._queue

    def has_room(self, num_tokens: int) -> bool:
        return self.num_busy < self.num_slots and num_tokens <= self._num_free_tokens

    @contextmanager
    def take_place(self, num_tokens: int) -> Iterator[Place]:
        """At the end of the queue. It may be let in at once; `num_ahead` waits until it is."""
        place = Place(num_tokens)
        self._queue.append(place)
        self._admit()
        try:
            yield place
        finally:
            self._leave(place)

    async def num_ahead(self, place: Place) -> AsyncGenerator[int, None]:
        """How many wait before it, now and whenever that has changed, until it is let in."""
        told: int | None = None
        while not place.is_in.is_set():
            if (num_ahead := self._queue.index(place)) != told:
                told = num_ahead
                yield num_ahead
            await self._wait_a_while(place)

    @asynccontextmanager
    async def hold(self, num_tokens: int) -> AsyncGenerator[None, None]:
        with self.take_place(num_tokens) as place:
            await place.is_in.wait()
            yield

    async def _wait_a_while(self, place: Place) -> None:
        """Until it is let in, or until it is time to tell again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._tell_s):
                await place.is_in.wait()

    def _admit(self) -> None:
        while self._queue and self.has_room(self._queue[0].num_tokens):
            place = self._queue.popleft()
            self.num_busy += 1
            self._num_free_tokens -= place.num_tokens
            place.is_in.set()

    def _leave(self, place: Place) -> None:
        if place.is_in.is_set():
            self.num_busy -= 1
            self._num_free_tokens += place.num_tokens
        else:
            self._queue.remove(place)
        self._admit()
