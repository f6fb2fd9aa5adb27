"""How many connections may be open, and how many requests may be arriving, shared by address.

Open connections are shared like answers (`runner/`): an address may have as many as are free, so
one address gets at most half of them, and there is always one for the next. A connection beyond
that is let in only to be told so, or to ask for health: a reserve has room for a few, each for a
moment.

A request that never ends is cheap for its client and takes memory here. When those that are still
arriving take too much, the address that takes most loses its oldest: whoever comes next gets in.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Protocol

from hitsend.errors import HitsendError, Overloaded, TooFast

log = logging.getLogger(__name__)

NUM_RESERVED = 64
"""Connections beyond the limit that are open for a moment."""
ARRIVING_PER_OPEN = 4
"""One in so many connections may be in the middle of its request."""
MIN_REQUEST_BYTES = 262_144
"""An arriving request counts for at least this many bytes."""
MAX_REQUEST_BYTES = 4_194_304
"""It counts for no more than this: larger ones are files, and go to disk as they arrive."""
RETRY_AFTER_S = 5.0
WARN_S = 60.0


class Evictable(Protocol):
    def evict(self) -> None:
        """Ends the connection, because others need the room."""


class SharedRoom:
    """Room for members of different sizes. When it is full, the address that has most of it loses
    its oldest member."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._by_address = Counter[str]()
        self._members: dict[str, dict[Evictable, int]] = {}
        """The members of each address and their sizes, the oldest first."""

    def hold(self, member: Evictable, address: str, size: int) -> None:
        """Adds a member, or changes its size."""
        members = self._members.setdefault(address, {})
        added = size - members.get(member, 0)
        members[member] = size
        self._by_address[address] += added
        self._used += added
        while self._used > self._size:
            self._evict_one()

    def leave(self, member: Evictable, address: str) -> None:
        members = self._members.get(address, {})
        size = members.pop(member, 0)
        self._used -= size
        self._by_address[address] -= size
        if not members:
            self._members.pop(address, None)
            del self._by_address[address]

    def _evict_one(self) -> None:
        address = max(self._by_address, key=self._by_address.__getitem__)
        oldest = next(iter(self._members[address]))
        self.leave(oldest, address)
        oldest.evict()


class ConnectionLimits:
    def __init__(self, max_connections: int) -> None:
        self._max_connections = max_connections
        self._num_open = 0
        self._places = Counter[str]()
        """How many of the open connections each address has."""
        self._warned_at = float("-inf")
        num_arriving = max(max_connections // ARRIVING_PER_OPEN, 16)
        self.arriving = SharedRoom(num_arriving * MIN_REQUEST_BYTES)
        self.reserve = SharedRoom(NUM_RESERVED)

    def open(self, address: str | None) -> HitsendError | None:
        """Counts a connection, or returns why there is no room for it. A proxy's has no address:
        those it forwards for take places of their own, one for each request."""
        num_free = self._max_connections - self._num_open
        if refusal := self._find_refusal(address, num_free):
            return refusal
        self._num_open += 1
        if address is not None:
            self._places[address] += 1
        return None

    def close(self, address: str | None) -> None:
        self._num_open -= 1
        if address is not None:
            self.leave_place(address)

    def take_place(self, address: str) -> HitsendError | None:
        """Counts a request of an open proxied connection, or returns why there is no room."""
        num_free = self._max_connections - self._num_open + 1
        if refusal := self._find_refusal(address, num_free):
            return refusal
        self._places[address] += 1
        return None

    def leave_place(self, address: str) -> None:
        self._places[address] -= 1
        if not self._places[address]:
            del self._places[address]

    def _find_refusal(self, address: str | None, num_free: int) -> HitsendError | None:
        refusal: HitsendError
        if num_free <= 0:
            refusal = Overloaded(
                "Too many connections are open. Try again in a moment.",
                retry_after_s=RETRY_AFTER_S,
            )
        elif address is not None and self._places[address] >= num_free:
            refusal = TooFast(
                f"{self._places[address]} connections are open from your address, and the room "
                "left is for others. Close some of them.",
                retry_after_s=RETRY_AFTER_S,
                is_shared=True,
            )
        else:
            return None
        self._warn(refusal)
        return refusal

    def _warn(self, refusal: HitsendError) -> None:
        """At most once a minute."""
        if (now := time.monotonic()) < self._warned_at + WARN_S:
            return
        self._warned_at = now
        log.warning(
            "A connection was refused: %d of %d are open. %s",
            self._num_open,
            self._max_connections,
            refusal.message,
        )


class Place:
    """The room that one connection takes."""

    def __init__(
        self, connection: Evictable, limits: ConnectionLimits, address: str, *, is_proxy: bool
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._address = address
        self._is_proxy = is_proxy
        self._client: str | None = None if is_proxy else address
        """Address of the client. Behind a proxy it is known only once the headers have arrived."""
        self._arriving_for: str | None = None
        self.refusal = limits.open(self._client)
        """Why there is no room, for a connection that is in the reserve."""
        if self.refusal:
            limits.reserve.hold(connection, address, 1)

    def begin_request(self, find_client: Callable[[], str]) -> HitsendError | None:
        """Returns why the request cannot be answered, if there is no room."""
        if self.refusal or self._client is not None:
            return self.refusal
        client = find_client()
        if (refusal := self._limits.take_place(client)) is None:
            self._client = client
        return refusal

    def end_request(self) -> None:
        if self._is_proxy and self._client is not None:
            self._limits.leave_place(self._client)
            self._client = None

    def hold_arriving(self, num_bytes: int) -> None:
        """The request is arriving, and has this many bytes so far. A proxy may take its time."""
        if self._arriving_for is None:
            self._arriving_for = self._client
        if self._arriving_for is not None:
            size = min(max(num_bytes, MIN_REQUEST_BYTES), MAX_REQUEST_BYTES)
            self._limits.arriving.hold(self._connection, self._arriving_for, size)

    def free_arriving(self) -> None:
        if self._arriving_for is not None:
            self._limits.arriving.leave(self._connection, self._arriving_for)
            self._arriving_for = None

    def detach(self) -> Callable[[], None]:
        """Returns a function that gives the place back, for a connection that becomes a WebSocket.
        It does not hold the connection, whose parser and headers may then be freed."""
        self.free_arriving()
        return self.leave if self.refusal else partial(self._limits.close, self._client)

    def leave(self) -> None:
        """Gives everything back. The connection is closed."""
        self.free_arriving()
        self.end_request()
        if self.refusal:
            self._limits.reserve.leave(self._connection, self._address)
        else:
            self._limits.close(self._client)
