"""A readiness check that runs at most once a second and shares its result.

The store's check writes to the disk, and anyone may request it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from hitsend.errors import Unavailable

FRESH_S = 1.0


class Readiness:
    def __init__(
        self, check: Callable[[], Awaitable[None]], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`check` raises Unavailable where something is not ready."""
        self._check = check
        self._now = now
        self._lock = asyncio.Lock()
        self._is_ready = False
        self._fresh_until = now()

    async def is_ready(self) -> bool:
        """Concurrent callers share one check."""
        async with self._lock:
            if self._now() >= self._fresh_until:
                try:
                    await self._check()
                    self._is_ready = True
                except Unavailable:
                    self._is_ready = False
                self._fresh_until = self._now() + FRESH_S
            return self._is_ready
