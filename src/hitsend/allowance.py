"""The remaining budget of a limit, for response headers and rate-limit errors.

errors.py imports this and the command line imports errors.py, so nothing heavy is imported here.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

MINUTE_S = 60.0
DAY_S = 86_400

CountedUnit: TypeAlias = Literal["requests", "tokens"]


@dataclass(frozen=True, slots=True)
class Allowance:
    counted: CountedUnit
    limit: int
    remaining: int
    reset_s: float
    """Time until the limit is full again, if nothing more is used."""
