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
        self._problem: Unavailable | None = None
        self._checked_at: float | None = None

    async def find_problem(self, fresh_s: float = FRESH_S) -> Unavailable | None:
        """Returns why it is not ready, or None. Concurrent callers share one check."""
        async with self._lock:
            if self._checked_at is None or self._now() >= self._checked_at + fresh_s:
                try:
                    await self._check()
                    self._problem = None
                except Unavailable as error:
                    self._problem = error
                self._checked_at = self._now()
            return self._problem
