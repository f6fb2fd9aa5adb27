"""A log of recent changes, so that caches of rows can be updated instead of read again.

It is in memory, because only one process, the server, changes these rows. It holds a limited
number of changes: a cache that is older has to be read again as a whole.
"""

from collections import deque
from collections.abc import Iterable, Set
from itertools import islice

MAX_CHANGES = 10_000
EVERYTHING = ""


class RecentChanges:
    def __init__(self, max_changes: int = MAX_CHANGES) -> None:
        self._newest: deque[tuple[str, str]] = deque(maxlen=max_changes)
        self.version = 0
        """The number of changes so far. A cache reads it before it reads the rows."""

    def record(self, owner_id: str, ids: Iterable[str] = (EVERYTHING,)) -> None:
        """NOTE: call it after the commit, so a reader of the new version finds the new rows."""
        for changed_id in ids:
            self._newest.append((owner_id, changed_id))
            self.version += 1

    def since(self, version: int, owner_id: str) -> Set[str] | None:
        """Returns the ids added, changed or removed since a version. None means any of them."""
        num_changes = self.version - version
        if num_changes > len(self._newest):
            return None
        changes = islice(reversed(self._newest), num_changes)
        changed = {changed_id for owner, changed_id in changes if owner == owner_id}
        return None if EVERYTHING in changed else changed
