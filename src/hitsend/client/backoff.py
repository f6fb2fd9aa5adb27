"""How long to wait before trying again: longer each time, never all clients at once."""

import random
from typing import Annotated

import msgspec
from msgspec import Meta

from hitsend.errors import HitsendError


class Backoff(msgspec.Struct, frozen=True):
    max_tries: Annotated[int, Meta(ge=1)] = 12
    first_s: float = 0.25
    longest_s: float = 8.0
    patience_s: float = 60.0
    """A server that asks for more than this is not waited for."""

    def delay_s(self, num_tries: int, error: HitsendError | None = None) -> float | None:
        """After this many tries in a row that failed. None means: give up."""
        if num_tries >= self.max_tries:
            return None
        if error is not None and error.retry_after_s is not None:
            asked = error.retry_after_s
            return asked * random.uniform(1.0, 1.1) if asked <= self.patience_s else None
        return random.uniform(0.5, 1.0) * min(self.longest_s, self.first_s * 2.0 ** (num_tries - 1))
