"""The send window of a topic: items pushed to a reader and not acknowledged yet.

They are kept until then, so that lost ones can be redelivered with the same bytes.
"""

from collections.abc import Sequence

from hitsend.wire.socket import WindowSize
from hitsend.wire.v1 import Item


class UnackedWindow:
    def __init__(self, size: WindowSize) -> None:
        self._size = size
        self._items: list[Item] = []
        self._num_bytes = 0

    @property
    def is_empty(self) -> bool:
        return not self._items

    def has_room(self, item: Item) -> bool:
        """True for an empty window, whatever the item's size: items are never split."""
        return self.is_empty or (
            len(self._items) < self._size.items
            and self._num_bytes + len(item.data) <= self._size.bytes
        )

    def add(self, item: Item) -> None:
        self._items.append(item)
        self._num_bytes += len(item.data)

    def ack(self, seq: int) -> bool:
        """Returns whether any item was removed."""
        num_acked = sum(item.seq <= seq for item in self._items)
        self._num_bytes -= sum(len(item.data) for item in self._items[:num_acked])
        del self._items[:num_acked]
        return num_acked > 0

    def items_covering(self, first: int, last: int) -> Sequence[Item] | None:
        """Returns the items with events `first` to `last`. None when `first` is not in the
        window: it was acknowledged, or never pushed."""
        found = [item for item in self._items if item.seq >= first and item.seq - item.n < last]
        return found if found and found[0].seq - found[0].n < first else None
