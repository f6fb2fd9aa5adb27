"""Records failed sign-ins in the audit log, without letting an attacker fill it.

The first failure at an account from an address is recorded at once. Further ones, also those that
the throttle refused, are counted for ten minutes and recorded as one entry. From more than a number
of addresses they are counted together. All names that nobody has are one account here.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from hitsend.errors import Refused, TooFast, Unauthenticated
from hitsend.store import Actor
from hitsend.store.audit_events import SignInFailed

CHECK_S = 10.0
WINDOW_S = 600.0
MAX_ADDRESSES = 20
"""Per account, within `WINDOW_S`."""
MANY_ADDRESSES = Actor("page")

Record: TypeAlias = Callable[[SignInFailed, Actor], Awaitable[None]]


@dataclass(slots=True)
class Window:
    by: Actor
    ends_at: float
    num_tries: int = 0
    """Failed tries that no entry counts yet."""


class SignInFailures:
    def __init__(self, record: Record, now: Callable[[], float] = time.monotonic) -> None:
        self._record = record
        self._now = now
        self._windows: dict[tuple[str | None, str], Window] = {}
        self._num_addresses = Counter[str | None]()

    @asynccontextmanager
    async def record_failures(self, by: Actor, user_id: str | None) -> AsyncGenerator[None]:
        """Records it when the block refuses a try at this account."""
        try:
            yield
        except (Refused, TooFast, Unauthenticated):
            await self._add(by, user_id)
            raise

    async def write_counts_forever(self, check_s: float = CHECK_S) -> None:
        while True:
            await self.write_counts()
            await asyncio.sleep(check_s)

    async def write_counts(self, *, is_final: bool = False) -> None:
        """Records what was counted in windows that are over, or in all."""
        now = self._now()
        over = [key for key, one in self._windows.items() if is_final or one.ends_at <= now]
        for key in over:
            window = self._windows.pop(key)
            self._num_addresses -= Counter([key[0]])
            if window.num_tries:
                await self._record(SignInFailed(key[0], window.num_tries), window.by)

    async def _add(self, by: Actor, user_id: str | None) -> None:
        if (window := self._windows.get((user_id, by.address))) is not None:
            window.num_tries += 1
        elif self._num_addresses[user_id] < MAX_ADDRESSES:
            self._open(user_id, by)
            await self._record(SignInFailed(user_id), by)
        else:
            many = self._windows.get((user_id, "")) or self._open(user_id, MANY_ADDRESSES)
            many.num_tries += 1

    def _open(self, user_id: str | None, by: Actor) -> Window:
        window = Window(by, self._now() + WINDOW_S)
        self._windows[user_id, by.address] = window
        self._num_addresses[user_id] += 1
        return window
