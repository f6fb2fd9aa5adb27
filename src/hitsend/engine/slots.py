"""Who may answer now. First come, first served, and never more than fits.

llama.cpp shares one pool of cells among its slots and ends everyone's answer when the pool is
full. So a prompt is let in only when it and its longest answer fit beside the others.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Slots:
    def __init__(self, num_slots: int, num_pool_tokens: int) -> None:
        self.num_slots = num_slots
        self.num_busy = 0
        self._num_free_tokens = num_pool_tokens
        self._queue: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def num_waiting(self) -> int:
        return sum(not admitted.cancelled() for _, admitted in self._queue)

    @property
    def is_idle(self) -> bool:
        return not self.num_busy and not self._queue

    def has_room(self, num_tokens: int) -> bool:
        return self.num_busy < self.num_slots and num_tokens <= self._num_free_tokens

    @asynccontextmanager
    async def hold(self, num_tokens: int) -> AsyncGenerator[None, None]:
        await self._enter(num_tokens)
        try:
            yield
        finally:
            self._leave(num_tokens)

    async def _enter(self, num_tokens: int) -> None:
        if not self._queue and self.has_room(num_tokens):
            self._take(num_tokens)
            return
        admitted = asyncio.get_running_loop().create_future()
        self._queue.append((num_tokens, admitted))
        try:
            await admitted
        except asyncio.CancelledError:
            if not admitted.cancelled():  # let in and cancelled in the same moment
                self._leave(num_tokens)
            self._admit()
            raise

    def _take(self, num_tokens: int) -> None:
        self.num_busy += 1
        self._num_free_tokens -= num_tokens

    def _leave(self, num_tokens: int) -> None:
        self.num_busy -= 1
        self._num_free_tokens += num_tokens
        self._admit()

    def _admit(self) -> None:
        while self._queue:
            num_tokens, admitted = self._queue[0]
            if not admitted.cancelled():
                if not self.has_room(num_tokens):
                    return
                self._take(num_tokens)
                admitted.set_result(None)
            self._queue.popleft()
