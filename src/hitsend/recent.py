"""A dictionary of what was put last, and of no more than there is room for.

What is put again is the newest once more: whoever puts back what they use keeps what is in use.
Reading alone changes nothing, and time makes nothing older.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(MutableMapping[K, V]):
    def __init__(self, room: int, size: Callable[[V], int] = lambda _: 1) -> None:
        """The sizes of all values add up to `room` at most. A size never changes."""
        self._room = room
        self._size = size
        self._taken = 0
        self._kept: OrderedDict[K, V] = OrderedDict()  # a dict is slow to find its first

    def __getitem__(self, key: K) -> V:
        return self._kept[key]

    def __setitem__(self, key: K, value: V) -> None:
        if key in self._kept:
            del self[key]
        self._kept[key] = value
        self._taken += self._size(value)
        while self._taken > self._room:
            del self[next(iter(self._kept))]

    def __delitem__(self, key: K) -> None:
        self._taken -= self._size(self._kept.pop(key))

    def __iter__(self) -> Iterator[K]:
        """The oldest first."""
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)
