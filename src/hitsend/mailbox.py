"""A queue with one reader, which costs next to nothing while it is empty.

asyncio's own holds three kilobytes of deques, and every page that is open has several. Where its
room is bounded, writers take turns: who finds it full is let in before whoever comes later.
"""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    __slots__ = ("_letters", "_reader", "_room", "_waiting")

    def __init__(self, room: int | None = None) -> None:
        self._room = room
        self._letters: list[T] = []
        self._reader: asyncio.Future[None] | None = None
        self._waiting: list[asyncio.Future[None]] = []
        """For room; the first is the next."""

    def empty(self) -> bool:
        return not self._letters

    def full(self) -> bool:
        return self._room is not None and len(self._letters) >= self._room

    def put_nowait(self, letter: T) -> None:
        """Whether or not there is room."""
        self._letters.append(letter)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def put(self, letter: T) -> None:
        """Who gives up while waiting has put nothing."""
        try:
            if self.full() or self._waiting:
                await self._queue_up()
            self.put_nowait(letter)
        finally:
            self._call_next()

    async def get(self) -> T:
        while not self._letters:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        letter = self._letters.pop(0)
        self._call_next()
        return letter

    async def _queue_up(self) -> None:
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(called)
        try:
            await called
        finally:
            self._waiting.remove(called)

    def _call_next(self) -> None:
        if self._waiting and not self.full() and not self._waiting[0].done():
            self._waiting[0].set_result(None)
