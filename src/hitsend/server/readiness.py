"""Whether something works, asked at most once a second however many want to know.

Asking may be dear (the store can only tell by writing), and anyone may ask.
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
        """`check` raises Unavailable where it does not work."""
        self._check = check
        self._now = now
        self._asking = asyncio.Lock()
        self._is_ready = False
        self._stale_at = now()

    async def is_ready(self) -> bool:
        """Those who come while it is being asked wait for the same answer."""
        async with self._asking:
            if self._now() >= self._stale_at:
                self._is_ready = await self._ask()
                self._stale_at = self._now() + FRESH_S
            return self._is_ready

    async def _ask(self) -> bool:
        try:
            await self._check()
        except Unavailable:
            return False
        return True
