"""Who may answer now. Lanes take turns, and there are never more answers than fit.

llama.cpp shares one pool of cells among its slots and ends everyone's answer when the pool is
full. So a prompt is let in only when it and its longest answer fit beside the others.

Each lane is first come, first served. The lanes stand in a ring: one that was served goes to its
end, where newcomers stand too, and goes there again when its answer ends; those with the fewest
answers running are served first. So a lane without a running answer only moves forward, and is not
overtaken for ever; one that has some waits for as long as others with fewer keep coming. Whose lane
it is, is not known here.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from heapq import heapify, heappop, heapreplace
from itertools import count

from hitsend.errors import Overloaded

TELL_S = 1.0
"""How often those who wait are told how many are before them. Each telling is stored."""
MAX_WAITING = 4096
"""Far more than turns may be under way. A queue without an end would be a leak."""


class Place:
    """Of one answer: in the queue at first, perhaps, and then in a slot."""

    def __init__(self, num_tokens: int, lane: str) -> None:
        self.num_tokens = num_tokens
        self.lane = lane
        self.is_in = asyncio.Event()


class Slots:
    def __init__(self, num_slots: int, num_pool_tokens: int, tell_s: float = TELL_S) -> None:
        self.num_slots = num_slots
        self._num_free_tokens = num_pool_tokens
        self._tell_s = tell_s
        self._ring: dict[str, deque[Place]] = {}
        """The lanes that wait, in the order they are served."""
        self._running: Counter[str] = Counter()
        self._order: dict[Place, int] | None = None
        """Everyone's place in the queue. None when it has changed."""

    @property
    def num_busy(self) -> int:
        return self._running.total()

    @property
    def num_waiting(self) -> int:
        return sum(map(len, self._ring.values()))

    @property
    def is_idle(self) -> bool:
        return not self._running and not self._ring

    def has_room(self, num_tokens: int) -> bool:
        return self.num_busy < self.num_slots and num_tokens <= self._num_free_tokens

    @contextmanager
    def take_place(self, num_tokens: int, lane: str = "") -> Iterator[Place]:
        """At the end of its lane. It may be let in at once; `num_ahead` waits until it is."""
        if self.num_waiting >= MAX_WAITING:
            raise Overloaded(
                "Too many answers wait here. Try again in a moment.", retry_after_s=10.0
            )
        place = Place(num_tokens, lane)
        self._ring.setdefault(lane, deque()).append(place)
        self._admit()
        try:
            yield place
        finally:
            self._leave(place)

    async def num_ahead(self, place: Place) -> AsyncGenerator[int, None]:
        """How many are before it, now and whenever that has changed, until it is let in."""
        told: int | None = None
        while not place.is_in.is_set():
            if (num_ahead := self._places()[place]) != told:
                told = num_ahead
                yield num_ahead
            await self._wait_a_while(place)

    @asynccontextmanager
    async def hold(self, num_tokens: int, lane: str = "") -> AsyncGenerator[None, None]:
        with self.take_place(num_tokens, lane) as place:
            await place.is_in.wait()
            yield

    async def _wait_a_while(self, place: Place) -> None:
        """Until it is let in, or until it is time to tell again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._tell_s):
                await place.is_in.wait()

    def _admit(self) -> None:
        self._order = None
        while self._ring:
            lane = min(self._ring, key=lambda one: self._running[one])
            if not self.has_room(self._ring[lane][0].num_tokens):
                return
            self._let_in(lane)

    def _let_in(self, lane: str) -> None:
        place = self._ring[lane].popleft()
        self._go_behind(lane)
        self._running[lane] += 1
        self._num_free_tokens -= place.num_tokens
        place.is_in.set()

    def _leave(self, place: Place) -> None:
        if place.is_in.is_set():
            self._num_free_tokens += place.num_tokens
            self._running -= Counter([place.lane])  # which forgets a lane at zero
            self._go_behind(place.lane)
        else:
            self._ring[place.lane].remove(place)
            self._ring = {lane: waiting for lane, waiting in self._ring.items() if waiting}
        self._admit()

    def _go_behind(self, lane: str) -> None:
        """To the end of the ring, if any of it wait."""
        if waiting := self._ring.pop(lane, None):
            self._ring[lane] = waiting

    def _places(self) -> dict[Place, int]:
        if self._order is None:
            self._order = {place: index for index, place in enumerate(self._in_order())}
        return self._order

    def _in_order(self) -> Iterator[Place]:
        """As they would be let in if nobody came, left or ended."""
        lanes = [
            (self._running[lane], at, deque(waiting))
            for at, (lane, waiting) in enumerate(self._ring.items())
        ]
        heapify(lanes)
        for end in count(len(lanes)):
            if not lanes:
                return
            num_running, _, waiting = lanes[0]
            yield waiting.popleft()
            if waiting:
                heapreplace(lanes, (num_running + 1, end, waiting))
            else:
                heappop(lanes)
