"""Slows down guessing of passwords: so many failures a minute from one address.

Guesses at one name from many addresses are not counted together, for whoever made them could
then keep the name's owner out. Those are slowed by the one thread all passwords are hashed on.
"""

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from hitsend.errors import TooFast

MINUTE = 60


class Throttle:
    def __init__(self, tries: int) -> None:
        self._limit = RateLimitItemPerMinute(tries)
        self._window = MovingWindowRateLimiter(MemoryStorage())

    async def try_once(self, address: str, name: str = "") -> None:
        """Counts before the password is looked at, so parallel guesses cannot slip through."""
        for who in ((address,), (address, name)):
            if not await self._window.hit(self._limit, *who):
                raise TooFast("Too many tries. Wait a minute.", retry_after_s=MINUTE)

    async def forgive(self, address: str, name: str = "") -> None:
        """It was them: their tries no longer count. Those at other names still do."""
        for who in ((address,), (address, name)):
            await self._window.clear(self._limit, *who)
