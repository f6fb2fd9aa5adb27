"""Request limits: a sliding-window counter, and the limit of resumed streams.

The counter keeps the times of each key's requests within the window, in memory. It stores no
limits: callers pass them. Nothing here awaits, so two requests are never counted at once.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from hitsend.allowance import MINUTE_S, Allowance
from hitsend.errors import TooFast

Key: TypeAlias = tuple[str, str]
"""A scope and an id in it, such as `("user", user_id)`."""

MAX_RESUMES = 100
RESUME_WINDOW_S = 5.0
"""All tabs of a user may reconnect at once, and one tab as often as a bad network makes it."""
MAX_FRESH_REPLAYS = 1000
FRESH_S = 60.0
"""How long a turn counts as just ended."""


class RequestCounter:
    def __init__(
        self, window_s: float = MINUTE_S, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._window_s = window_s
        self._now = now
        self._requests: dict[Key, deque[float]] = {}
        """Ordered by each key's last request, oldest first."""

    def __len__(self) -> int:
        """Number of keys tracked."""
        return len(self._requests)

    def count(
        self, limits: Mapping[Key, int], other_allowances: Sequence[Allowance] = ()
    ) -> list[Allowance]:
        """Counts one request for every key, or for none of them. Returns what is left, followed by
        `other_allowances`. Raises TooFast, with the same."""
        waits_s = self.try_count(limits)
        if waits_s:
            wait_s = max(waits_s.values())
            raise TooFast(
                f"Too many requests in a minute. Try again in {math.ceil(wait_s)} seconds.",
                retry_after_s=wait_s,
                allowances=[*self.remaining(limits), *other_allowances],
                is_shared=all(scope == "address" for scope, _ in waits_s),
            )
        return [*self.remaining(limits), *other_allowances]

    def try_count(self, limits: Mapping[Key, int]) -> dict[Key, float]:
        """Counts one request for every key, unless one has no room. Returns the seconds that each
        key without room has to wait; if there is any, nothing was counted."""
        now = self._now()
        self._evict_idle(now)
        recent = {key: self._recent(key, now) for key in limits}
        waits_s = {key: self._wait_s(recent[key], limit, now) for key, limit in limits.items()}
        if full := {key: wait_s for key, wait_s in waits_s.items() if wait_s > 0}:
            return full
        for key, requests in recent.items():
            requests.append(now)
            self._requests.pop(key, None)
            self._requests[key] = requests
        return {}

    def remaining(self, limits: Mapping[Key, int]) -> list[Allowance]:
        now = self._now()
        return [self._allowance(self._recent(key, now), limits[key], now) for key in limits]

    def _recent(self, key: Key, now: float) -> deque[float]:
        requests = self._requests.get(key, deque())
        while requests and requests[0] <= now - self._window_s:
            requests.popleft()
        return requests

    def _evict_idle(self, now: float) -> None:
        while self._requests:
            oldest = next(iter(self._requests))
            if self._recent(oldest, now):
                return
            del self._requests[oldest]

    def _wait_s(self, requests: deque[float], limit: int, now: float) -> float:
        """A limit may have been lowered since: then several requests have to expire first."""
        if len(requests) < limit:
            return 0.0
        return requests[-limit] + self._window_s - now if limit else self._window_s

    def _allowance(self, requests: deque[float], limit: int, now: float) -> Allowance:
        reset_s = requests[-1] + self._window_s - now if requests else 0.0
        return Allowance("requests", limit, max(limit - len(requests), 0), reset_s)


class ResumeLimit:
    """Limits how often a user resumes streams: each resume reads the whole turn."""

    def __init__(self) -> None:
        self._counter = RequestCounter(RESUME_WINDOW_S)

    def count(self, user_id: str, ended_s_ago: float = math.inf) -> None:
        is_fresh = ended_s_ago < FRESH_S
        key = ("fresh replays of user" if is_fresh else "user", user_id)
        if self._counter.try_count({key: MAX_FRESH_REPLAYS if is_fresh else MAX_RESUMES}):
            raise TooFast("Too many streams are resumed. Wait a moment.", retry_after_s=1)
