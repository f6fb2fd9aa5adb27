"""The queue for an engine's slots, fair between lanes.

llama.cpp shares one KV cache among its slots and ends every answer when the cache is full. So a
request is admitted only if its prompt and its longest answer fit beside the others. A remote
server's cache is its own: there only the number of requests counts.

Each lane is first in, first out. The lane with the fewest running answers is served first, and of
equal ones the lane that waited longest: a lane goes to the back when it is served, when one of its
answers ends, and when it is new. So a lane without a running answer only moves forward and cannot
starve. A lane with running answers waits while lanes with fewer keep coming.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from heapq import heapify, heappop, heapreplace
from itertools import count

from hitsend.errors import Overloaded

REPORT_INTERVAL_S = 1.0
"""How often a waiting request reports its position. Each report is stored."""
MAX_WAITING = 4096
"""Far more than the turns that may run at once. A queue without a limit would be a leak."""


class SlotRequest:
    """One answer's request for a slot: it waits in the queue, then holds a slot."""

    def __init__(self, num_tokens: int, lane: str) -> None:
        self.num_tokens = num_tokens
        self.lane = lane
        self.is_admitted = asyncio.Event()


class Slots:
    def __init__(
        self,
        num_slots: int,
        num_pool_tokens: int = 0,
        report_interval_s: float = REPORT_INTERVAL_S,
    ) -> None:
        self.num_slots = num_slots
        self._num_free_tokens = num_pool_tokens
        self._report_interval_s = report_interval_s
        self._lanes: dict[str, deque[SlotRequest]] = {}
        """The waiting requests of each lane; the lanes in the order they are served."""
        self._running: Counter[str] = Counter()
        self._positions: dict[SlotRequest, int] | None = None
        """The position of every waiting request. None after a change, until it is needed."""

    @property
    def num_busy(self) -> int:
        return self._running.total()

    @property
    def num_waiting(self) -> int:
        return sum(map(len, self._lanes.values()))

    @property
    def is_idle(self) -> bool:
        return not self._running and not self._lanes

    def has_room(self, num_tokens: int) -> bool:
        return self.num_busy < self.num_slots and num_tokens <= self._num_free_tokens

    @contextmanager
    def enqueue(self, num_tokens: int = 0, lane: str = "") -> Iterator[SlotRequest]:
        """Adds a request to the end of its lane. It may be admitted at once; `watch_queue` waits
        until it is. Leaving the block frees the slot."""
        if self.num_waiting >= MAX_WAITING:
            raise Overloaded(
                "Too many answers wait here. Try again in a moment.", retry_after_s=10.0
            )
        request = SlotRequest(num_tokens, lane)
        self._lanes.setdefault(lane, deque()).append(request)
        self._admit_waiting()
        try:
            yield request
        finally:
            self._leave(request)

    async def watch_queue(self, request: SlotRequest) -> AsyncGenerator[int, None]:
        """Yields how many requests are ahead, now and after each change, until it is admitted."""
        reported: int | None = None
        while not request.is_admitted.is_set():
            if (num_ahead := self._num_ahead(request)) != reported:
                reported = num_ahead
                yield num_ahead
            with suppress(TimeoutError):
                async with asyncio.timeout(self._report_interval_s):
                    await request.is_admitted.wait()

    @asynccontextmanager
    async def acquire(self, num_tokens: int) -> AsyncGenerator[None, None]:
        with self.enqueue(num_tokens) as request:
            await request.is_admitted.wait()
            yield

    def _admit_waiting(self) -> None:
        self._positions = None
        while self._lanes:
            lane = min(self._lanes, key=lambda one: self._running[one])
            if not self.has_room(self._lanes[lane][0].num_tokens):
                return
            self._admit_next(lane)

    def _admit_next(self, lane: str) -> None:
        request = self._lanes[lane].popleft()
        self._move_to_back(lane)
        self._running[lane] += 1
        self._num_free_tokens -= request.num_tokens
        request.is_admitted.set()

    def _leave(self, request: SlotRequest) -> None:
        if request.is_admitted.is_set():
            self._num_free_tokens += request.num_tokens
            self._running -= Counter([request.lane])  # drops a lane whose count reaches zero
            self._move_to_back(request.lane)
        else:
            self._lanes[request.lane].remove(request)
            self._lanes = {lane: waiting for lane, waiting in self._lanes.items() if waiting}
        self._admit_waiting()

    def _move_to_back(self, lane: str) -> None:
        """Removes the lane if none of it waits."""
        if waiting := self._lanes.pop(lane, None):
            self._lanes[lane] = waiting

    def _num_ahead(self, request: SlotRequest) -> int:
        if self._positions is None:
            self._positions = {one: index for index, one in enumerate(self._in_order())}
        return self._positions[request]

    def _in_order(self) -> Iterator[SlotRequest]:
        """Yields the waiting requests as they would be admitted if none came, left or ended."""
        lanes = [
            (self._running[lane], at, deque(waiting))
            for at, (lane, waiting) in enumerate(self._lanes.items())
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
