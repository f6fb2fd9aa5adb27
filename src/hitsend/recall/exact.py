"""Which vectors are nearest to one, by looking at them all.

Exact, and quick enough for tens of thousands: one product of a matrix and a vector, in a thread.
Matrices that were used lately are kept in memory, and of what changed since only that is read.
Rows that have gone are never found, but may stay there until their space is asked for again,
others need the room, or the process ends. Where vectors are stored, and what they stand for, is
not known here.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence, Set
from types import ModuleType
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from hitsend.recent import Recent
from hitsend.store import Changes

MAX_KEPT_BYTES = 32 * 2**20
BLOCK_ROWS = 1024
"""Kept together. Where one of them changes, so many are copied."""


class Hit(msgspec.Struct, frozen=True):
    id: str
    score: float
    """The cosine of the angle between the two: 1 is the same."""


class Rows(msgspec.Struct, frozen=True):
    """Unit vectors one after another, float32 and little endian, and whose they are."""

    ids: Sequence[str]
    vectors: bytes


NONE = Rows((), b"")

Load: TypeAlias = Callable[[Collection[str] | None], Awaitable[Rows]]
"""All rows, or those of some ids that are there."""


class Space(NamedTuple):
    """Vectors that can be compared: those of one person, or one conversation."""

    owner_id: str
    changes: Changes
    load: Load


class Nearest(Protocol):
    async def keep_up(self, space: Space) -> None:
        """Reads what changed, so that whoever asks next need not wait for it."""

    async def nearest(
        self,
        space: Space,
        vector: bytes,
        k: int,
        *,
        least: float = 0.0,
        among: Set[str] | None = None,
    ) -> list[Hit]:
        """The `k` nearest in `space`, or `among` some of it, with a score of `least` or more; the
        nearest first."""


class ExactSearch:
    def __init__(self, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._kept = Recent[str, _Kept](max_kept_bytes, lambda kept: kept.num_bytes)
        """By owner."""

    async def keep_up(self, space: Space) -> None:
        await self._blocks(space)

    async def nearest(
        self,
        space: Space,
        vector: bytes,
        k: int,
        *,
        least: float = 0.0,
        among: Set[str] | None = None,
    ) -> list[Hit]:
        blocks = await self._blocks(space)
        if not blocks or k < 1:
            return []
        return await asyncio.to_thread(_nearest, blocks, vector, k, least, among)

    async def _blocks(self, space: Space) -> Sequence[Rows]:
        version, kept = space.changes.version, self._kept.get(space.owner_id)
        changed = space.changes.since(kept.version, space.owner_id) if kept else None
        if kept is None or changed is None:
            rows = await space.load(None)
            new = await asyncio.to_thread(_kept, version, _blocks(rows))
        elif changed:
            rows = await space.load(changed)
            new = await asyncio.to_thread(_kept, version, _patched(kept.blocks, changed, rows))
        else:
            new = kept._replace(version=version)
        self._keep(space.owner_id, new)
        return new.blocks

    def _keep(self, owner_id: str, new: "_Kept") -> None:
        if new.blocks:
            self._kept[owner_id] = new
        else:
            self._kept.pop(owner_id, None)


class _Kept(NamedTuple):
    version: int
    blocks: Sequence[Rows]
    num_bytes: int


def _kept(version: int, blocks: Iterable[Rows]) -> _Kept:
    blocks = tuple(blocks)
    return _Kept(version, blocks, sum(map(_num_bytes, blocks)))


def _num_bytes(rows: Rows) -> int:
    """Ids are as long as one another. To measure each takes longer than to look for a vector."""
    return len(rows.vectors) + len(rows.ids) * sys.getsizeof(rows.ids[0])


def _blocks(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows.ids), BLOCK_ROWS):
        yield _some(rows, range(start, min(start + BLOCK_ROWS, len(rows.ids))))


def _patched(blocks: Sequence[Rows], changed: Set[str], new: Rows) -> Iterator[Rows]:
    """With the new ones first, and without any other that changed."""
    first, *others = (_without(changed, rows) for rows in blocks)
    if len(new.ids) + len(first.ids) <= BLOCK_ROWS:
        new, first = Rows([*new.ids, *first.ids], new.vectors + first.vectors), NONE
    yield from _blocks(new)
    yield from (rows for rows in (first, *others) if rows.ids)


def _without(changed: Set[str], rows: Rows) -> Rows:
    if changed.isdisjoint(rows.ids):
        return rows
    return _some(rows, [at for at, row_id in enumerate(rows.ids) if row_id not in changed])


def _some(rows: Rows, places: Iterable[int]) -> Rows:
    num_bytes, places = len(rows.vectors) // len(rows.ids), list(places)
    vectors = (rows.vectors[at * num_bytes : (at + 1) * num_bytes] for at in places)
    return Rows([rows.ids[at] for at in places], b"".join(vectors))


def _nearest(
    blocks: Sequence[Rows], vector: bytes, k: int, least: float, among: Set[str] | None
) -> list[Hit]:
    """Of those as near as each other, the one that comes first among the rows."""
    numpy = _numpy()
    asked = numpy.frombuffer(vector, "<f4")
    matrices = (numpy.frombuffer(rows.vectors, "<f4").reshape(-1, len(asked)) for rows in blocks)
    scores = numpy.concatenate([matrix @ asked for matrix in matrices])
    ids = [row_id for rows in blocks for row_id in rows.ids]
    found = numpy.flatnonzero(scores >= least)
    if among is not None:
        found = found[[ids[at] in among for at in found]]
    if len(found) > k:
        kth = numpy.partition(scores[found], -k)[-k]
        found = found[scores[found] >= kth]
    found = found[numpy.argsort(-scores[found], kind="stable")][:k]
    return [Hit(ids[at], float(scores[at])) for at in found]


def _numpy() -> ModuleType:
    """At the first need: it takes 20 MB. One thread, as the others are the engine's."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy

    return numpy
