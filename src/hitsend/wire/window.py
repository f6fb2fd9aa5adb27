"""What was pushed to a reader and is not acknowledged yet: no more than so much of it.

Kept until then, so that what got lost can be said again, byte by byte. The log of the turn is
somebody else's and does not care who has read it.
"""

from collections.abc import Sequence

from hitsend.wire.socket import WindowSize
from hitsend.wire.v1 import Item


class Window:
    def __init__(self, size: WindowSize) -> None:
        self._size = size
        self._items: list[Item] = []
        self._num_bytes = 0

    @property
    def is_empty(self) -> bool:
        return not self._items

    def has_room(self, item: Item) -> bool:
        """Anything fits an empty one: an item is never cut."""
        return self.is_empty or (
            len(self._items) < self._size.items
            and self._num_bytes + len(item.data) <= self._size.bytes
        )

    def add(self, item: Item) -> None:
        self._items.append(item)
        self._num_bytes += len(item.data)

    def ack(self, seq: int) -> bool:
        """Whether that was news."""
        num_acked = sum(item.seq <= seq for item in self._items)
        self._num_bytes -= sum(len(item.data) for item in self._items[:num_acked])
        del self._items[:num_acked]
        return num_acked > 0

    def again(self, first: int, last: int) -> Sequence[Item] | None:
        """The items with events `first` to `last`. None where they do not begin in here: they
        were acknowledged, or never pushed."""
        found = [one for one in self._items if one.seq >= first and one.seq - one.n < last]
        return found if found and found[0].seq - found[0].n < first else None
