"""Which vectors are nearest to one, by looking at them all.

Exact, and quick enough for tens of thousands: one product of a matrix and a vector, in a thread.
Matrices that were used lately are kept in memory. Rows of an older version are never found, but
may stay there until their space is asked for again, others need the room, or the process ends.
Where vectors are stored, and what they stand for, is not known here.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Protocol, TypeAlias

import msgspec

MAX_KEPT_BYTES = 32 * 2**20


class Hit(msgspec.Struct, frozen=True):
    id: str
    score: float
    """The cosine of the angle between the two: 1 is the same."""


class Rows(msgspec.Struct, frozen=True):
    """Unit vectors one after another, float32 and little endian, and whose they are."""

    ids: Sequence[str]
    vectors: bytes


Load: TypeAlias = Callable[[], Awaitable[Rows]]


class Nearest(Protocol):
    async def nearest(
        self, space: str, version: str, load: Load, vector: bytes, k: int, *, least: float = 0.0
    ) -> list[Hit]:
        """The `k` nearest in `space` with a score of `least` or more, the nearest first.

        `load` is asked for the rows when those of this `version` are not at hand."""


class ExactSearch:
    def __init__(self, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_kept_bytes = max_kept_bytes
        self._kept: dict[str, tuple[str, Rows]] = {}
        """By space, with the version; those used last come last."""
        self._num_kept_bytes = 0

    async def nearest(
        self, space: str, version: str, load: Load, vector: bytes, k: int, *, least: float = 0.0
    ) -> list[Hit]:
        rows = await self._rows(space, version, load)
        if not rows.ids or k < 1:
            return []
        return await asyncio.to_thread(_nearest, rows, vector, k, least)

    async def _rows(self, space: str, version: str, load: Load) -> Rows:
        kept = self._take(space)
        rows = kept[1] if kept and kept[0] == version else await load()
        self._take(space)  # another may have put them there meanwhile
        if rows.ids:
            self._kept[space] = (version, rows)
            self._num_kept_bytes += _num_bytes(rows)
        while self._num_kept_bytes > self._max_kept_bytes:
            self._take(next(iter(self._kept)))
        return rows

    def _take(self, space: str) -> tuple[str, Rows] | None:
        kept = self._kept.pop(space, None)
        self._num_kept_bytes -= _num_bytes(kept[1]) if kept else 0
        return kept


def _num_bytes(rows: Rows) -> int:
    return len(rows.vectors) + sum(map(sys.getsizeof, rows.ids))


def _nearest(rows: Rows, vector: bytes, k: int, least: float) -> list[Hit]:
    """Of those as near as each other, the one that comes first among the rows."""
    numpy = _numpy()
    asked = numpy.frombuffer(vector, "<f4")
    scores = numpy.frombuffer(rows.vectors, "<f4").reshape(len(rows.ids), len(asked)) @ asked
    found = numpy.flatnonzero(scores >= least)
    if len(found) > k:
        kth = numpy.partition(scores[found], -k)[-k]
        found = found[scores[found] >= kth]
    found = found[numpy.argsort(-scores[found], kind="stable")][:k]
    return [Hit(rows.ids[at], float(scores[at])) for at in found]


def _numpy() -> ModuleType:
    """At the first need: it takes 20 MB. One thread, as the others are the engine's."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy

    return numpy
