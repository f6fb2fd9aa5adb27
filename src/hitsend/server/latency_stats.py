"""Latency statistics: answer times as pages and as the server measured them, and page errors.

It holds numbers and names only; no text of a user fits in. The newest entries are kept in memory,
without a user's id.
"""

import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Annotated, NamedTuple

import msgspec
from cachetools import FIFOCache
from msgspec import UNSET, Meta

from hitsend.messages import Usage

MAX_ANSWERS = 1000
"""Per model."""
MAX_ERRORS = 200
MAX_REPORTED = 10
"""In one request."""

Milliseconds = Annotated[float, Meta(ge=0, le=86_400_000)]
Id = Annotated[str, Meta(pattern=r"\A[0-9A-Za-z-]{0,64}\Z")]
Name = Annotated[str, Meta(pattern=r"\A[A-Za-z_$][A-Za-z0-9_$]{0,47}\Z")]
Place = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_$./-]{1,96}\Z")]
Build = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9._-]{0,40}\Z")]


class PageLatency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The latency of one answer in a page. The `ts_` gaps between tokens leave out the first one.
    Field names are ChatGPT's."""

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
    """The class and place of an error on a page, without its message."""

    name: Name
    where: Place
    line: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    build: Build = ""
    count: Annotated[int, Meta(ge=1, le=1000)] = 1


class Timing(NamedTuple):
    """The times of one answer: to its first token, and per token."""

    first_token_ms: float | None
    token_ms: float | None


class Percentiles(msgspec.Struct, frozen=True):
    p50: float | None
    p95: float | None
    count: int


class TimingSummary(msgspec.Struct, frozen=True):
    first_token_ms: Percentiles
    token_ms: Percentiles


class ModelLatency(msgspec.Struct, frozen=True):
    model: str
    server: TimingSummary
    browsers: TimingSummary


class ErrorCount(msgspec.Struct, frozen=True):
    name: str
    where: str
    count: int
    last_at: float


class LatencyStats:
    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._reported: defaultdict[str, deque[Timing]] = defaultdict(
            lambda: deque(maxlen=MAX_ANSWERS)
        )
        self._errors = FIFOCache[tuple[str, str], ErrorCount](MAX_ERRORS)

    def add(self, latency: PageLatency) -> None:
        """The caller has checked that the model exists, which bounds the memory."""
        self._reported[latency.model].append(Timing(latency.ts_first_token_ms, latency.ts_mean))

    def add_error(self, error: PageError) -> None:
        key = error.name, error.where
        before = self._errors.get(key)
        num_before = before.count if before else 0
        self._errors[key] = ErrorCount(*key, num_before + error.count, self._now())

    def errors(self) -> list[ErrorCount]:
        """Returns page errors, the newest first."""
        return sorted(self._errors.values(), key=lambda one: one.last_at, reverse=True)

    def models(self, usages: Iterable[tuple[str, Usage]]) -> list[ModelLatency]:
        """Summarises what pages reported and what the server measured for its last answers."""
        measured: defaultdict[str, list[Timing]] = defaultdict(list)
        for model, usage in usages:
            measured[model].append(_server_timing(usage))
        return [
            ModelLatency(model, _summary(measured[model]), _summary(self._reported.get(model, ())))
            for model in sorted(measured.keys() | self._reported.keys())
        ]


def _server_timing(usage: Usage) -> Timing:
    first = None if usage.first_word_ms is UNSET else usage.first_word_ms
    is_timed = usage.num_output_tokens > 0 and usage.decode_ms > 0
    return Timing(first, usage.decode_ms / usage.num_output_tokens if is_timed else None)


def _summary(timings: Collection[Timing]) -> TimingSummary:
    firsts, gaps = zip(*timings, strict=True) if timings else ((), ())
    return TimingSummary(_percentiles(firsts), _percentiles(gaps))


def _percentiles(values: Iterable[float | None]) -> Percentiles:
    known = sorted(value for value in values if value is not None)
    return Percentiles(_percentile(known, 0.5), _percentile(known, 0.95), len(known))


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """Nearest-rank percentile."""
    return round(ordered[math.ceil(share * len(ordered)) - 1], 3) if ordered else None
