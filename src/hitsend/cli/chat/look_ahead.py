"""The updates of an answer, read on while the person is asked something."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import Any, Self, TypeVar

from hitsend.client import Update

Reply = TypeVar("Reply")


class LookAhead:
    """Updates that come during a question wait until it is answered. Close it with `aclose`."""

    def __init__(self, updates: AsyncGenerator[Update, None]) -> None:
        self._updates = updates
        self._next: asyncio.Future[Update] | None = None
        self._waiting: deque[Update] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update:
        if self._waiting:
            return self._waiting.popleft()
        update = await self._read_next()
        self._next = None
        return update

    async def wait_for(
        self, asking: "asyncio.Future[Reply]", is_settled: Callable[[Update], bool]
    ) -> Reply | None:
        """Returns the reply, or None once an update settles the question elsewhere. The end of the
        answer settles nothing: the person may still reply."""
        try:
            while not asking.done():
                reading = self._read_next()
                awaited: set[asyncio.Future[Any]] = {asking}
                if not _has_failed(reading):
                    awaited.add(reading)
                await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
                if reading.done() and not _has_failed(reading):
                    self._next = None
                    self._waiting.append(reading.result())
                    if is_settled(reading.result()):
                        return None
            return await asking
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def aclose(self) -> None:
        if self._next is not None:
            self._next.cancel()
            await asyncio.gather(self._next, return_exceptions=True)
        await self._updates.aclose()

    def _read_next(self) -> "asyncio.Future[Update]":
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._updates))
        return self._next


def _has_failed(reading: "asyncio.Future[Update]") -> bool:
    """Whether there are no more updates, or an error. Either is raised by the next reader."""
    return reading.done() and reading.exception() is not None
