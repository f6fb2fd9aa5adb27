"""Kills the process where a test wants it killed: `HITSEND_CRASH_AT` names the point.

It is no setting, and knows nothing of what is going on: whoever calls says how far they are.
docs/reliability.md tells what has to hold after each point.
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
    """As kill -9 does it: nothing is flushed, closed or said."""
    if point == POINT and when():
        os.kill(os.getpid(), signal.SIGKILL)
