"""Whether this machine is fast enough for something, by how long it took the last times.

Knows no clock but the one it is given, and not what is measured.
"""

import time
from collections import deque
from collections.abc import Callable
from statistics import median_low

NUM_REMEMBERED = 9
NUM_ENOUGH = 3
"""One slow time says little."""
OFF_S = 600.0


class Pace:
    def __init__(self, budget_s: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._budget_s = budget_s
        self._now = now
        self._took: deque[float] = deque(maxlen=NUM_REMEMBERED)
        self._off_until: float | None = None
        self._is_trial = False

    @property
    def is_off(self) -> bool:
        return self._off_until is not None and self._now() < self._off_until

    def may_try(self) -> bool:
        """Whether to do it now. After a while of not doing it, one may: a trial."""
        if self.is_off:
            return False
        if self._off_until is not None:
            self._is_trial = True
            self._off_until = self._now() + OFF_S  # the others wait for how the trial ends
        return True

    def told_nothing(self) -> None:
        """It was given up before it could be said how long it takes. The next may be the trial."""
        if self._is_trial:
            self._is_trial = False
            self._off_until = self._now()

    def took(self, seconds: float) -> None:
        """A trial decides by itself; otherwise the middle of the last times does."""
        if self._is_trial:
            self._is_trial = False
            self._took.clear()
            self._off_until = None if seconds <= self._budget_s else self._now() + OFF_S
        self._took.append(seconds)
        if len(self._took) >= NUM_ENOUGH and median_low(self._took) > self._budget_s:
            self._off_until = self._now() + OFF_S
