"""How much of a limit is left: told before anyone runs into it, and when they have.

Errors carry it, and the command line loads those at once: so nothing heavy is imported here.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

MINUTE_S = 60.0
DAY_S = 86_400

Counted: TypeAlias = Literal["requests", "tokens"]


@dataclass(frozen=True, slots=True)
class Allowance:
    counted: Counted
    limit: int
    remaining: int
    reset_s: float
    """Until all of it is there again, if nothing more is taken."""
