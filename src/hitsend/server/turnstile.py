"""One at a time for each person, for calls that cost something."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Turnstile:
    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def is_busy(self, user_id: str) -> bool:
        """Whether a call of theirs would have to wait."""
        lock = self._locks.get(user_id)
        return lock is not None and lock.locked()

    @asynccontextmanager
    async def one_of(self, user_id: str) -> AsyncGenerator[None, None]:
        """Waits for the person's earlier calls, and for nobody else's."""
        lock = self._locks.setdefault(user_id, asyncio.Lock())
        async with lock:
            yield
