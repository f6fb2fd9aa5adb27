"""How much of a limit is left: told before anyone runs into it, and when they have."""

from typing import Literal, TypeAlias

import msgspec

MINUTE_S = 60.0
DAY_S = 86_400

Counted: TypeAlias = Literal["requests", "tokens"]


class Allowance(msgspec.Struct, frozen=True):
    counted: Counted
    limit: int
    remaining: int
    reset_s: float
    """Until all of it is there again, if nothing more is taken."""
