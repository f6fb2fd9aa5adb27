"""Slows down guessing of passwords: so many failures a minute for a name and for an address."""

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from hitsend.errors import TooFast

MINUTE = 60


class Throttle:
    def __init__(self, tries: int) -> None:
        self._limit = RateLimitItemPerMinute(tries)
        self._window = MovingWindowRateLimiter(MemoryStorage())

    async def try_once(self, *who: str) -> None:
        """Counts before the password is looked at, so parallel guesses cannot slip through."""
        for one in who:
            if not await self._window.hit(self._limit, one):
                raise TooFast("Too many tries. Wait a minute.", retry_after_s=MINUTE)

    async def forgive(self, *who: str) -> None:
        """It was them: earlier failures no longer count."""
        for one in who:
            await self._window.clear(self._limit, one)
