"""What changed lately, and whose it is: for whoever keeps a copy in memory and wants to keep up.

Only the server changes anything, and it is one process, so that this is in memory too. What changed
long ago is forgotten: whoever has a copy that old has to read all of it again.
"""

from collections import deque
from collections.abc import Iterable, Set
from itertools import islice

MOST_CHANGES = 10_000
EVERYTHING = ""


class Changes:
    def __init__(self, most: int = MOST_CHANGES) -> None:
        self._last: deque[tuple[str, str]] = deque(maxlen=most)
        self.version = 0
        """How many changes there were. To be asked before what is copied is read."""

    def note(self, whose: str, ids: Iterable[str] = (EVERYTHING,)) -> None:
        """Once it can be read: whoever asks for the new version is to find what is new."""
        for changed_id in ids:
            self._last.append((whose, changed_id))
            self.version += 1

    def since(self, version: int, whose: str) -> Set[str] | None:
        """Which of theirs were added, changed or removed. None where it may be any."""
        num_changes = self.version - version
        if num_changes > len(self._last):
            return None
        theirs = {one for who, one in islice(reversed(self._last), num_changes) if who == whose}
        return None if EVERYTHING in theirs else theirs
