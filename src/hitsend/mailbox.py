"""A small queue with one reader.

An asyncio.Queue takes 3 kB, and every open page has several. A bounded mailbox is fair: writers
that wait for room enter in order.
"""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    __slots__ = ("_items", "_max_items", "_reader", "_writers")

    def __init__(self, max_items: int | None = None) -> None:
        self._max_items = max_items
        self._items: list[T] = []
        self._reader: asyncio.Future[None] | None = None
        self._writers: list[asyncio.Future[None]] = []
        """Waiting for room, in order."""

    def empty(self) -> bool:
        """Called by uvicorn, for which a mailbox stands in for an asyncio.Queue."""
        return not self._items

    def full(self) -> bool:
        return self._max_items is not None and len(self._items) >= self._max_items

    def put_nowait(self, item: T) -> None:
        """Adds the item even when the mailbox is full."""
        self._items.append(item)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def put(self, item: T) -> None:
        """Waits for room. If cancelled while waiting, nothing is added."""
        try:
            if self.full() or self._writers:
                await self._wait_for_room()
            self.put_nowait(item)
        finally:
            self._wake_next_writer()

    async def get(self) -> T:
        while not self._items:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        item = self._items.pop(0)
        self._wake_next_writer()
        return item

    async def _wait_for_room(self) -> None:
        has_room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writers.append(has_room)
        try:
            await has_room
        finally:
            self._writers.remove(has_room)

    def _wake_next_writer(self) -> None:
        if self._writers and not self.full() and not self._writers[0].done():
            self._writers[0].set_result(None)
