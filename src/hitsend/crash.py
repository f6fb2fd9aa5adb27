"""Crash points for tests: kills the process at the point that `HITSEND_CRASH_AT` names.

docs/reliability.md says what must hold after each point.
"""

import os
import signal
from collections.abc import Callable
from typing import Literal, TypeAlias

MessagePoint: TypeAlias = Literal[
    "inserted",
    "accepted",
    "before-first-delta",
    "after-first-delta",
    "before-final",
    "mid-commit",
    "after-final",
]
"""Passed by every message."""
ToolPoint: TypeAlias = Literal["in-tool", "tools-ended"]
"""Passed where the model calls a tool."""
Point: TypeAlias = MessagePoint | ToolPoint

POINT = os.environ.get("HITSEND_CRASH_AT")


def crash_here(point: Point, when: Callable[[], bool] = lambda: True) -> None:
    """Kills with SIGKILL: nothing is flushed or closed."""
    if point == POINT and when():
        os.kill(os.getpid(), signal.SIGKILL)
