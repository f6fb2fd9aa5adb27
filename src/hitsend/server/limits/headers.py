"""Rate limit headers, as OpenAI's SDKs read them."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hitsend.allowance import Allowance
from hitsend.errors import TooFast


def rate_limit_headers(allowances: Iterable[Allowance]) -> dict[str, str]:
    """Reports the tightest limit on requests and the tightest one on tokens."""
    by_remaining = sorted(allowances, key=lambda allowance: -allowance.remaining)
    tightest = {allowance.counted: allowance for allowance in by_remaining}
    headers: dict[str, str] = {}
    for counted, allowance in tightest.items():
        headers[f"x-ratelimit-limit-{counted}"] = str(allowance.limit)
        headers[f"x-ratelimit-remaining-{counted}"] = str(allowance.remaining)
        headers[f"x-ratelimit-reset-{counted}"] = format_duration(allowance.reset_s)
    return headers


@contextmanager
def attach_allowances(allowances: Iterable[Allowance]) -> Iterator[None]:
    """Adds the other limits to a TooFast error, so that its headers report all of them."""
    try:
        yield
    except TooFast as error:
        error.allowances = (*error.allowances, *allowances)
        raise


def format_duration(seconds: float) -> str:
    """In Go's notation: `12ms`, `6m0s`, `1h0m0s`. Rounded up, so that no client retries early."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
