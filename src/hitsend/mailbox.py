"""A queue with one reader, which costs next to nothing while it is empty.

asyncio's own holds three kilobytes of deques, and every page that is open has several.
"""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    __slots__ = ("_has_room", "_letters", "_reader", "_room")

    def __init__(self, room: int | None = None) -> None:
        self._room = room
        self._letters: list[T] = []
        self._reader: asyncio.Future[None] | None = None
        self._has_room: asyncio.Event | None = None

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
        while self.full():
            self._has_room = self._has_room or asyncio.Event()
            await self._has_room.wait()
        self.put_nowait(letter)

    async def get(self) -> T:
        while not self._letters:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        letter = self._letters.pop(0)
        if self._has_room is not None:
            self._has_room.set()
            self._has_room = None
        return letter
