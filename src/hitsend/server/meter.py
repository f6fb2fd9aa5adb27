"""Counts requests: how many each of us made in the last minute, exactly.

Only what has a limit is counted, and nothing older than a minute is kept. It knows no limits:
whoever asks says them. Nothing here awaits, so no two requests are counted at once.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TypeAlias

from hitsend.allowance import MINUTE_S, Allowance
from hitsend.errors import TooFast

Who: TypeAlias = tuple[str, str]
"""A person, a key or an address."""


class Meter:
    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._requests: dict[Who, deque[float]] = {}
        """Whoever came last stands last."""

    def __len__(self) -> int:
        """Whom it has something in mind of."""
        return len(self._requests)

    def take(self, limits: Mapping[Who, int]) -> list[Allowance]:
        """Counts one request of each of them, or of none; tells what is then left. Raises
        TooFast."""
        now = self._now()
        self._forget(now)
        recent = {who: self._recent(who, now) for who in limits}
        waits_s = {who: _until_room(recent[who], limits[who], now) for who in limits}
        if (wait_s := max(waits_s.values(), default=0.0)) > 0:
            raise TooFast(
                f"Too many requests in a minute. Try again in {math.ceil(wait_s)} seconds.",
                retry_after_s=wait_s,
                allowances=self.look(limits),
                is_shared=all(kind == "address" for (kind, _), wait in waits_s.items() if wait),
            )
        for who, requests in recent.items():
            requests.append(now)
            self._requests.pop(who, None)
            self._requests[who] = requests
        return self.look(limits)

    def look(self, limits: Mapping[Who, int]) -> list[Allowance]:
        """What is left. Counts nothing."""
        now = self._now()
        return [_left(self._recent(who, now), limit, now) for who, limit in limits.items()]

    def _recent(self, who: Who, now: float) -> deque[float]:
        requests = self._requests.get(who, deque())
        while requests and requests[0] <= now - MINUTE_S:
            requests.popleft()
        return requests

    def _forget(self, now: float) -> None:
        """Those who made no request within a minute: they stand first."""
        while self._requests:
            who = next(iter(self._requests))
            if self._recent(who, now):
                return
            del self._requests[who]


def _until_room(requests: deque[float], limit: int, now: float) -> float:
    """A limit may have been lowered meanwhile: then several have to leave first."""
    if len(requests) < limit:
        return 0.0
    return requests[-limit] + MINUTE_S - now if limit else MINUTE_S


def _left(requests: deque[float], limit: int, now: float) -> Allowance:
    reset_s = requests[-1] + MINUTE_S - now if requests else 0.0
    return Allowance("requests", limit, max(limit - len(requests), 0), reset_s)
