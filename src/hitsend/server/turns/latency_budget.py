"""A latency budget: turns a feature off where this machine is too slow for it.

It works like a circuit breaker. When the median of the last durations exceeds the budget, the
feature is off for ten minutes; then one trial decides whether it is on again.
"""

import time
from collections import deque
from collections.abc import Callable
from statistics import median_low

MAX_DURATIONS = 9
MIN_DURATIONS = 3
"""A single slow run does not count."""
OFF_S = 600.0


class LatencyBudget:
    def __init__(self, budget_s: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._budget_s = budget_s
        self._now = now
        self._durations_s: deque[float] = deque(maxlen=MAX_DURATIONS)
        self._off_until: float | None = None
        self._is_trial = False

    @property
    def is_off(self) -> bool:
        return self._off_until is not None and self._now() < self._off_until

    def try_begin(self) -> bool:
        """Returns whether to run now. The first run after an off period is the trial."""
        if self.is_off:
            return False
        if self._off_until is not None:
            self._is_trial = True
            self._off_until = self._now() + OFF_S  # others wait for the result of the trial
        return True

    def record(self, seconds: float) -> None:
        """A trial decides alone; otherwise the median does."""
        if self._is_trial:
            self._is_trial = False
            self._durations_s.clear()
            self._off_until = None if seconds <= self._budget_s else self._now() + OFF_S
        self._durations_s.append(seconds)
        is_enough = len(self._durations_s) >= MIN_DURATIONS
        if is_enough and median_low(self._durations_s) > self._budget_s:
            self._off_until = self._now() + OFF_S

    def record_aborted(self) -> None:
        """The run ended before its duration was known. If it was the trial, the next run is."""
        if self._is_trial:
            self._is_trial = False
            self._off_until = self._now()
