"""Embeds questions, and searches the nearest vectors: one matrix-vector product in a thread.

It is fast enough for tens of thousands of vectors. Recently used matrices are cached (LRU), and
only changed rows are read again. Deleted rows are never returned, but may stay in memory until
their source is searched again or evicted. This module does not know where vectors are stored.
"""

import asyncio
import heapq
import operator
import sys
from array import array
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Sequence,
    Set,
)
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec
import simsimd
from cachetools import LRUCache

from hitsend.engine import Embedder
from hitsend.errors import EngineDown
from hitsend.store import RecentChanges

MAX_QUESTION_CHARS = 1_000
"""Text pasted below a question says little about it."""
EMBED_TIMEOUT_S = 1.5
"""The person waits for the answer meanwhile. Without the embedding, words are compared."""
MAX_CACHE_BYTES = 32 * 2**20
BLOCK_ROWS = 1024
"""A change copies the block of its row."""

T = TypeVar("T")


async def embed_question(question: str, embedder: Embedder) -> bytes:
    [vector] = await embedder.embed([question[:MAX_QUESTION_CHARS]])
    return vector


async def with_timeout(work: Awaitable[T]) -> T | None:
    """Returns None if the embedder is down or too slow."""
    try:
        async with asyncio.timeout(EMBED_TIMEOUT_S):
            return await work
    except (EngineDown, TimeoutError):
        return None


def cosine(vector: bytes, other: bytes) -> float:
    """Of two unit vectors."""
    return float(sum(map(operator.mul, array("f", vector), array("f", other))))


class Hit(msgspec.Struct, frozen=True):
    id: str
    score: float
    """Cosine similarity."""


class Rows(msgspec.Struct, frozen=True):
    """Ids and their concatenated unit vectors, as little-endian float32."""

    ids: Sequence[str]
    vectors: bytes


NO_ROWS = Rows((), b"")

Load: TypeAlias = Callable[[Collection[str] | None], Awaitable[Rows]]
"""Loads all rows, or those of some ids that exist."""


class VectorSource(NamedTuple):
    """The vectors of one person or one conversation."""

    owner_id: str
    changes: RecentChanges
    load: Load


class VectorIndex(Protocol):
    async def refresh(self, source: VectorSource) -> None:
        """Loads what changed, so that the next search need not."""

    async def search(
        self,
        source: VectorSource,
        vector: bytes,
        k: int,
        *,
        min_score: float = 0.0,
        allowed_ids: Container[str] | None = None,
    ) -> list[Hit]:
        """Returns the `k` most similar, best first."""


class ExactSearch:
    def __init__(self, max_cache_bytes: int = MAX_CACHE_BYTES) -> None:
        self._cache = LRUCache[str, _CachedMatrix](max_cache_bytes, lambda one: one.num_bytes)
        """By owner."""

    async def refresh(self, source: VectorSource) -> None:
        await self._load_blocks(source)

    async def search(
        self,
        source: VectorSource,
        vector: bytes,
        k: int,
        *,
        min_score: float = 0.0,
        allowed_ids: Container[str] | None = None,
    ) -> list[Hit]:
        blocks = await self._load_blocks(source)
        if not blocks or k < 1:
            return []
        return await asyncio.to_thread(_search, blocks, vector, k, min_score, allowed_ids)

    async def _load_blocks(self, source: VectorSource) -> Sequence[Rows]:
        version, cached = source.changes.version, self._cache.get(source.owner_id)
        changed = source.changes.since(cached.version, source.owner_id) if cached else None
        if cached is None or changed is None:
            rows = await source.load(None)
            new = await asyncio.to_thread(_build_matrix, version, _split_blocks(rows))
        elif changed:
            rows = await source.load(changed)
            blocks = _patch(cached.blocks, changed, rows)
            new = await asyncio.to_thread(_build_matrix, version, blocks)
        else:
            new = cached._replace(version=version)
        if 0 < new.num_bytes <= self._cache.maxsize:
            self._cache[source.owner_id] = new
        else:
            self._cache.pop(source.owner_id, None)
        return new.blocks


class _CachedMatrix(NamedTuple):
    version: int
    blocks: Sequence[Rows]
    num_bytes: int


def _build_matrix(version: int, blocks: Iterable[Rows]) -> _CachedMatrix:
    blocks = tuple(blocks)
    return _CachedMatrix(version, blocks, sum(map(_num_bytes, blocks)))


def _num_bytes(rows: Rows) -> int:
    """All ids have the same length. Measuring each would take longer than a search."""
    return len(rows.vectors) + len(rows.ids) * sys.getsizeof(rows.ids[0])


def _split_blocks(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows.ids), BLOCK_ROWS):
        yield _take_rows(rows, range(start, min(start + BLOCK_ROWS, len(rows.ids))))


def _patch(blocks: Sequence[Rows], changed: Set[str], new: Rows) -> Iterator[Rows]:
    """Drops the changed rows and puts the new ones first."""
    first, *others = (_drop_rows(rows, changed) for rows in blocks)
    if len(new.ids) + len(first.ids) <= BLOCK_ROWS:
        new, first = Rows([*new.ids, *first.ids], new.vectors + first.vectors), NO_ROWS
    yield from _split_blocks(new)
    yield from (rows for rows in (first, *others) if rows.ids)


def _drop_rows(rows: Rows, changed: Set[str]) -> Rows:
    if changed.isdisjoint(rows.ids):
        return rows
    return _take_rows(rows, [at for at, row_id in enumerate(rows.ids) if row_id not in changed])


def _take_rows(rows: Rows, places: Iterable[int]) -> Rows:
    num_bytes, places = len(rows.vectors) // len(rows.ids), list(places)
    vectors = (rows.vectors[at * num_bytes : (at + 1) * num_bytes] for at in places)
    return Rows([rows.ids[at] for at in places], b"".join(vectors))


def _search(
    blocks: Sequence[Rows],
    vector: bytes,
    k: int,
    min_score: float,
    allowed_ids: Container[str] | None,
) -> list[Hit]:
    """The first row wins a tie."""
    scores = _score_rows(blocks, vector)
    found: Iterable[int] = (at for at, score in enumerate(scores) if score >= min_score)
    ids = [row_id for rows in blocks for row_id in rows.ids]
    if allowed_ids is not None:
        found = (at for at in found if ids[at] in allowed_ids)
    best = heapq.nlargest(k, found, key=scores.__getitem__)
    return [Hit(ids[at], scores[at]) for at in best]


def _score_rows(blocks: Iterable[Rows], vector: bytes) -> Sequence[float]:
    scores, query = array("d"), _as_matrix(vector, len(vector))
    for rows in blocks:
        # Not with `out`: simsimd 6.5 then takes a reference to None that it does not own, and
        # without any left Python aborts.
        found = simsimd.cdist(query, _as_matrix(rows.vectors, len(vector)), metric="dot")
        assert isinstance(found, simsimd.DistancesTensor)
        scores.frombytes(memoryview(found).cast("B"))
    return scores


def _as_matrix(vectors: bytes, num_bytes: int) -> "memoryview[Any]":
    """`num_bytes` is the size of a row."""
    shape = (len(vectors) // num_bytes, num_bytes // 4)
    return memoryview(vectors).cast("f", shape)
