"""Slows down a reader that comes back over and over: each time costs a look at the whole turn."""

from limits import RateLimitItemPerSecond
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from hitsend.errors import TooFast

MOST = 100
WINDOW_S = 5
"""So many times in so many seconds: all windows of a person may come back at once, or one again
and again at a pace that a network can be lost and found at."""


class Returns:
    def __init__(self) -> None:
        self._limit = RateLimitItemPerSecond(MOST, WINDOW_S)
        self._window = MovingWindowRateLimiter(MemoryStorage())

    async def count(self, user_id: str) -> None:
        if not await self._window.hit(self._limit, user_id):
            raise TooFast("Too many streams are asked for again. Wait a moment.", retry_after_s=1)
