"""Limits how many calls a caller may have open at once.

The database has a few threads for reading, and calls wait for them in line. Without a limit, one
program that asks for a thousand things at once would stand in front of everyone else. Calls past
the limit wait here, where they stand in nobody's way.

A Send has limits of its own (`runner/`), and a stream counts only until it begins.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TypeAlias
from weakref import WeakValueDictionary

from hitsend.errors import TooFast
from hitsend.server.auth.identify import Identity

WAITING_PER_OPEN = 4
"""How many calls may wait for each one that may be open."""
MAX_WAIT_S = 10.0
PER_PERSON = 2
"""A person has several sessions and keys, so that one of them cannot shut out the others."""
PER_ADDRESS = 4
"""Many people may share an address before they sign in."""

Key: TypeAlias = tuple[str, str]


class OpenCalls:
    def __init__(self, max_calls: int) -> None:
        """`max_calls` for each session and each API key."""
        self._max_calls = max_calls
        self._lines: WeakValueDictionary[Key, _Line] = WeakValueDictionary()

    @asynccontextmanager
    async def count(self, caller: Identity | None, address: str) -> AsyncGenerator[None]:
        """Counts one call while the context is open. Waits while the caller has too many open, and
        raises TooFast where too many wait already, or for too long."""
        if caller is None:
            limits = {("address", address): PER_ADDRESS}
        else:
            limits = {("credential", caller.credential_id): 1, ("user", caller.user.id): PER_PERSON}
        async with AsyncExitStack() as stack:
            for key, times in limits.items():
                line = self._lines.get(key) or _Line(times * self._max_calls)
                self._lines[key] = line
                await stack.enter_async_context(line.enter())
            yield


class _Line:
    def __init__(self, num_open: int) -> None:
        self._room = asyncio.Semaphore(num_open)
        self._num_free_places = num_open * WAITING_PER_OPEN

    @asynccontextmanager
    async def enter(self) -> AsyncGenerator[None]:
        if self._room.locked():
            with self._take_place():
                await self._wait()
        else:
            await self._room.acquire()  # at once
        try:
            yield
        finally:
            self._room.release()

    @contextmanager
    def _take_place(self) -> Iterator[None]:
        if not self._num_free_places:
            raise _too_many()
        self._num_free_places -= 1
        try:
            yield
        finally:
            self._num_free_places += 1

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                await self._room.acquire()
        except TimeoutError:
            raise _too_many() from None


def _too_many() -> TooFast:
    return TooFast(
        "Too many calls are open at once. Wait until one of them has been answered.",
        retry_after_s=1,
    )
