"""How fast answers were, as pages saw it and as the server did; and the errors pages had.

Numbers and names alone: nothing of what people write fits in here. It is kept in memory, for
the last so many, and belongs to no one. Where it comes from is the routes' affair.
"""

import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Meta

from hitsend.messages import Usage
from hitsend.recent import Recent

MAX_ANSWERS = 1000
"""Remembered of each model."""
MAX_ERRORS = 200
"""Remembered in all, those that came last."""
MAX_REPORTED = 10
"""In one call."""

Milliseconds = Annotated[float, Meta(ge=0, le=86_400_000)]
Id = Annotated[str, Meta(pattern=r"\A[0-9A-Za-z-]{0,64}\Z")]
Name = Annotated[str, Meta(pattern=r"\A[A-Za-z_$][A-Za-z0-9_$]{0,47}\Z")]
Place = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_$./-]{1,96}\Z")]
Build = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9._-]{0,40}\Z")]


class Beacon(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a page measured of one answer. Gaps between tokens are without the first one's."""

    model: Annotated[str, Meta(min_length=1, max_length=256)]
    server_request_id: Id = ""
    preflight_time_ms: Milliseconds | None = None
    count_tokens: Annotated[int, Meta(ge=0, le=10_000_000)] | None = None
    ts_first_token_ms: Milliseconds | None = None
    ts_max_token_time_ms: Milliseconds | None = None
    ts_mean: Milliseconds | None = None
    ts_median: Milliseconds | None = None
    ts_min: Milliseconds | None = None
    ts_p95: Milliseconds | None = None
    ts_p99: Milliseconds | None = None
    ts_total_request_ms: Milliseconds | None = None


class PageError(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What kind of error a page had, and where. What the error says is not wanted."""

    name: Name
    where: Place
    line: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    build: Build = ""
    count: Annotated[int, Meta(ge=1, le=1000)] = 1


class Told(NamedTuple):
    """Of one answer: until its first token, and from token to token."""

    first_token_ms: float | None
    token_ms: float | None


class Spread(msgspec.Struct, frozen=True):
    p50: float | None
    p95: float | None
    count: int


class Figures(msgspec.Struct, frozen=True):
    first_token_ms: Spread
    token_ms: Spread


class ModelLatency(msgspec.Struct, frozen=True):
    model: str
    server: Figures
    browsers: Figures


class ErrorCount(msgspec.Struct, frozen=True):
    name: str
    where: str
    count: int
    last_at: float


class Latency:
    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._told: defaultdict[str, deque[Told]] = defaultdict(lambda: deque(maxlen=MAX_ANSWERS))
        self._errors = Recent[tuple[str, str], ErrorCount](MAX_ERRORS)

    def add(self, beacon: Beacon) -> None:
        """Of a model that is known here: the caller has looked."""
        self._told[beacon.model].append(Told(beacon.ts_first_token_ms, beacon.ts_mean))

    def add_error(self, error: PageError) -> None:
        key = error.name, error.where
        before = self._errors.get(key)
        num_before = before.count if before else 0
        self._errors[key] = ErrorCount(*key, num_before + error.count, self._now())

    def errors(self) -> list[ErrorCount]:
        """The newest first."""
        return list(self._errors.values())[::-1]

    def models(self, usages: Iterable[tuple[str, Usage]]) -> list[ModelLatency]:
        """What pages told, beside what the server itself measured of its last answers."""
        measured: defaultdict[str, list[Told]] = defaultdict(list)
        for model, usage in usages:
            measured[model].append(_measured(usage))
        return [
            ModelLatency(model, _figures(measured[model]), _figures(self._told.get(model, ())))
            for model in sorted(measured.keys() | self._told.keys())
        ]


def _measured(usage: Usage) -> Told:
    first = None if usage.first_word_ms is UNSET else usage.first_word_ms
    is_timed = usage.num_output_tokens > 0 and usage.decode_ms > 0
    return Told(first, usage.decode_ms / usage.num_output_tokens if is_timed else None)


def _figures(told: Collection[Told]) -> Figures:
    firsts, gaps = zip(*told, strict=True) if told else ((), ())
    return Figures(_spread(firsts), _spread(gaps))


def _spread(values: Iterable[float | None]) -> Spread:
    known = sorted(value for value in values if value is not None)
    return Spread(_percentile(known, 0.5), _percentile(known, 0.95), len(known))


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that so large a share of them does not exceed."""
    return round(ordered[math.ceil(share * len(ordered)) - 1], 3) if ordered else None
