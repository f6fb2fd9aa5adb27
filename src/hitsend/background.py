"""Work that nobody waits for: begun when there is time, one piece at a time.

Each wish goes by a name; a newer wish by the same name takes the place of one that has not begun.
What fails is not tried again: whoever wanted it will want it again. What runs is ended when hitsend
ends.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from hitsend.recent import Recent

Wish: TypeAlias = Callable[[], Awaitable[None]]

MOST_WISHES = 1000
"""Those beyond it, the oldest, are forgotten."""


class Background:
    def __init__(self) -> None:
        self._wishes = Recent[str, Wish](MOST_WISHES)
        self._is_wanted = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def want(self, name: str, wish: Wish) -> None:
        self._wishes[name] = wish
        self._is_idle.clear()
        self._is_wanted.set()

    async def until_idle(self) -> None:
        """Until all that was wanted was tried."""
        await self._is_idle.wait()

    async def run(self) -> None:
        """Until it is cancelled. Where a wish raises, whoever runs this logs it and runs it again:
        the other wishes are still here."""
        while True:
            await self._is_wanted.wait()
            while self._wishes:
                await self._wishes.pop(next(iter(self._wishes)))()
            self._is_wanted.clear()
            self._is_idle.set()
