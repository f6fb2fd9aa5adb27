"""Crash points for tests: kills the process at the point that `HITSEND_CRASH_AT` names.

docs/reliability.md says what must hold after each point.
"""

import os
import signal
from collections.abc import Callable
from typing import Literal, TypeAlias

Point: TypeAlias = Literal[
    "inserted",
    "accepted",
    "before-first-delta",
    "after-first-delta",
    "before-final",
    "mid-commit",
    "after-final",
]

POINT = os.environ.get("HITSEND_CRASH_AT")


def crash_here(point: Point, when: Callable[[], bool] = lambda: True) -> None:
    """Kills with SIGKILL: nothing is flushed or closed."""
    if point == POINT and when():
        os.kill(os.getpid(), signal.SIGKILL)
