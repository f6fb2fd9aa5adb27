"""The ids of the messages from the root of a conversation to one of its messages."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice


class MessagePath(Collection[str]):
    """Finds a message as fast in a long path as in a short one. Its prefixes, and the path that it
    becomes with the next turn, share its memory."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids = list(ids)
        self._places = {message_id: at for at, message_id in enumerate(self._ids)}
        self._length = len(self._ids)

    def place(self, message_id: str) -> int | None:
        at = self._places.get(message_id)
        return at if at is not None and at < self._length else None

    def slice(self, start: int, end: int) -> Sequence[str]:
        return self._ids[max(start, 0) : min(end, self._length)]

    def prefix(self, length: int) -> "MessagePath":
        return self._share(min(length, self._length))

    def extend(self, ids: Sequence[str]) -> "MessagePath":
        """Returns the longer path. This one stays as it is."""
        if self._length < len(self._ids):  # another path goes on differently
            return MessagePath([*self, *ids])
        self._places.update((one, at) for at, one in enumerate(ids, self._length))
        self._ids.extend(ids)
        return self._share(len(self._ids))

    def _share(self, length: int) -> "MessagePath":
        path = MessagePath()
        path._ids, path._places, path._length = self._ids, self._places, length
        return path

    @property
    def last(self) -> str | None:
        return self._ids[self._length - 1] if self._length else None

    def __contains__(self, message_id: object) -> bool:
        return isinstance(message_id, str) and self.place(message_id) is not None

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return islice(self._ids, self._length)
