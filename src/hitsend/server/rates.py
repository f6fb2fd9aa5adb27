"""What is left of one's limits, as the headers OpenAI's SDKs know."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hitsend.allowance import Allowance
from hitsend.errors import TooFast


def rate_headers(allowances: Iterable[Allowance]) -> dict[str, str]:
    """Of several limits on the same thing, the one that is met first."""
    least = sorted(allowances, key=lambda one: -one.remaining)
    tightest = {one.counted: one for one in least}
    return {
        name: value
        for counted, one in tightest.items()
        for name, value in (
            (f"x-ratelimit-limit-{counted}", str(one.limit)),
            (f"x-ratelimit-remaining-{counted}", str(one.remaining)),
            (f"x-ratelimit-reset-{counted}", duration(one.reset_s)),
        )
    }


@contextmanager
def telling(left: Iterable[Allowance]) -> Iterator[None]:
    """Whoever meets one limit hears of the others too."""
    try:
        yield
    except TooFast as error:
        error.allowances = (*error.allowances, *left)
        raise


def duration(seconds: float) -> str:
    """As Go writes it: `12ms`, `6m0s`, `1h0m0s`. Rounded up, so that nobody comes too early."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
