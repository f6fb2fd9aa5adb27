"""Exact vector search, compared with a plain implementation."""

import asyncio
import math
import struct
import sys
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.context.recall.vector_search import BLOCK_ROWS, ExactSearch, Hit, Rows, VectorSource
from hitsend.store import RecentChanges

NUM_DIMENSIONS = 4
ROW_BYTES = 4 * NUM_DIMENSIONS + sys.getsizeof("0")
"""Bytes of one row with its id."""
Vector = list[float]
ONE, OTHER = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]

vectors = st.lists(
    st.floats(-1, 1, width=32), min_size=NUM_DIMENSIONS, max_size=NUM_DIMENSIONS
).filter(lambda values: math.hypot(*values) > 0.1)


def pack(*many: Vector) -> bytes:
    return b"".join(
        struct.pack(f"<{len(values)}f", *(value / math.hypot(*values) for value in values))
        for values in many
    )


class FakeSource:
    """A source of vectors that counts the rows of each load."""

    def __init__(self, content: dict[str, Vector], owner_id: str = "ada") -> None:
        self.content = content
        self.changes = RecentChanges()
        self.source = VectorSource(owner_id, self.changes, self.load)
        self.loads: list[int] = []

    @classmethod
    def of(cls, *many: Vector) -> "FakeSource":
        return cls({str(at): values for at, values in enumerate(many)})

    async def load(self, ids: Collection[str] | None) -> Rows:
        found = [one for one in self.content if ids is None or one in ids]
        self.loads.append(len(found))
        return Rows(found, pack(*(self.content[one] for one in found)))

    def put(self, row_id: str, values: Vector | None) -> None:
        self.content.pop(row_id, None)
        if values is not None:
            self.content[row_id] = values
        self.changes.record(self.source.owner_id, [row_id])


@given(st.lists(vectors, max_size=20), vectors, st.integers(0, 8), st.floats(-1, 1))
async def test_a_search_finds_the_same_as_comparing_every_vector(
    many: list[Vector], query: Vector, k: int, min_score: float
) -> None:
    fake = FakeSource.of(*many)
    found = await ExactSearch().search(fake.source, pack(query), k, min_score=min_score)
    cosines = sorted((cosine(one, query) for one in many), reverse=True)
    clearly = [score for score in cosines if score > min_score + 1e-5][:k]
    perhaps = [score for score in cosines if score > min_score - 1e-5][:k]
    assert len(clearly) <= len(found) <= len(perhaps)
    assert [hit.score for hit in found] == pytest.approx(perhaps[: len(found)], abs=1e-5)
    assert all(
        hit.score == pytest.approx(cosine(many[int(hit.id)], query), abs=1e-5) for hit in found
    )


def cosine(one: Vector, other: Vector) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.hypot(*one) / math.hypot(*other)


async def test_after_a_refresh_a_search_reads_nothing() -> None:
    fake, search = FakeSource.of(ONE), ExactSearch()
    await search.refresh(fake.source)
    fake.put("new", OTHER)
    await search.refresh(fake.source)
    loads = list(fake.loads)
    [hit] = await search.search(fake.source, pack(OTHER), 1)
    assert hit.id == "new"
    assert fake.loads == loads == [1, 1]


async def test_of_equal_scores_the_first_row_comes_first() -> None:
    fake = FakeSource.of(OTHER, ONE, ONE, ONE)
    found = await ExactSearch().search(fake.source, pack(ONE), 2)
    assert found == [Hit("1", 1.0), Hit("2", 1.0)]


async def test_searches_leave_the_references_to_none_alone() -> None:
    fake, search = FakeSource.of(ONE), ExactSearch()
    await search.search(fake.source, pack(ONE), 1)
    before = sys.getrefcount(None)
    for _ in range(1000):
        await search.search(fake.source, pack(ONE), 1)
    assert abs(sys.getrefcount(None) - before) < 500


async def test_only_allowed_ids_are_found() -> None:
    fake = FakeSource.of(*[ONE] * 100)
    found = await ExactSearch().search(fake.source, pack(ONE), 2, allowed_ids={"98", "99", "100"})
    assert found == [Hit("98", 1.0), Hit("99", 1.0)]
    assert await ExactSearch().search(fake.source, pack(ONE), 2, allowed_ids=frozenset()) == []


async def test_only_changed_rows_are_read_again() -> None:
    search, fake = ExactSearch(), FakeSource.of(ONE, ONE, OTHER)
    await search.search(fake.source, pack(ONE), 9)
    fake.put("0", None)
    fake.put("2", ONE)
    fake.put("3", ONE)
    found = await search.search(fake.source, pack(ONE), 9, min_score=0.5)
    assert {hit.id for hit in found} == {"1", "2", "3"}
    await search.search(fake.source, pack(ONE), 9)
    assert fake.loads == [3, 2]


Edit = tuple[int, Vector | None]


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.none() | vectors)), max_size=5), vectors)
async def test_after_any_changes_a_search_equals_a_search_from_scratch(
    rounds: list[list[Edit]], query: Vector
) -> None:
    search, fake = ExactSearch(), FakeSource({})
    fake.changes = RecentChanges(max_changes=6)
    fake.source = VectorSource("ada", fake.changes, fake.load)
    for edits in rounds:
        for number, values in edits:
            fake.put(str(number), values)
            fake.changes.record("eve", ["of somebody else"])
        found = await search.search(fake.source, pack(query), 20, min_score=-2)
        anew = await ExactSearch().search(fake.source, pack(query), 20, min_score=-2)
        assert {hit.id: hit.score for hit in found} == pytest.approx(
            {hit.id: hit.score for hit in anew}, abs=1e-6
        )


async def test_cleared_rows_are_not_found() -> None:
    search, fake = ExactSearch(), FakeSource.of(ONE, ONE)
    await search.search(fake.source, pack(ONE), 9)
    fake.content.clear()
    fake.changes.record("ada")
    assert await search.search(fake.source, pack(ONE), 9) == []


async def test_the_least_recently_used_source_is_evicted() -> None:
    fakes = {owner: FakeSource({"0": ONE}, owner) for owner in "abc"}
    search = ExactSearch(max_cache_bytes=2 * ROW_BYTES)
    for owner in "abacab":
        await search.search(fakes[owner].source, pack(ONE), 1)
    assert {owner: len(fake.loads) for owner, fake in fakes.items()} == {"a": 1, "b": 2, "c": 1}


async def test_a_source_too_large_to_cache_is_still_searched() -> None:
    search, fake = ExactSearch(max_cache_bytes=1), FakeSource.of(ONE)
    for _ in range(2):
        assert await search.search(fake.source, pack(ONE), 1)
    assert len(fake.loads) == 2


async def test_a_source_without_rows_is_not_cached() -> None:
    full, empty, search = FakeSource({"0": ONE}, "full"), FakeSource({}, "empty"), ExactSearch()
    await search.search(full.source, pack(ONE), 1)
    for _ in range(2):
        assert await search.search(empty.source, pack(ONE), 1) == []
    assert (len(full.loads), len(empty.loads)) == (1, 2)


async def test_ids_count_towards_the_cache_size() -> None:
    long, search = FakeSource({"n" * 1000: ONE}), ExactSearch(max_cache_bytes=500)
    for _ in range(2):
        assert await search.search(long.source, pack(ONE), 1)
    assert len(long.loads) == 2


async def test_concurrent_loads_of_a_source_are_counted_once() -> None:
    fake, other = FakeSource({"0": ONE}, "ada"), FakeSource({"0": ONE}, "eve")
    search, both_load = ExactSearch(max_cache_bytes=2 * ROW_BYTES), asyncio.Barrier(2)

    async def load(ids: Collection[str] | None) -> Rows:
        await both_load.wait()
        return await fake.load(ids)

    source = fake.source._replace(load=load)
    async with asyncio.timeout(5):
        await asyncio.gather(*(search.search(source, pack(ONE), 1) for _ in range(2)))
    for one in (other, fake, other):
        await search.search(one.source, pack(ONE), 1)
    assert (len(fake.loads), len(other.loads)) == (2, 1)


async def test_changes_in_many_blocks_are_found() -> None:
    search, fake = ExactSearch(), FakeSource.of(*[OTHER] * 3 * BLOCK_ROWS)
    await search.search(fake.source, pack(ONE), 1)
    far_apart = [str(number) for number in (0, BLOCK_ROWS + 1, 3 * BLOCK_ROWS - 1, 3 * BLOCK_ROWS)]
    for row_id in far_apart:
        fake.put(row_id, ONE)
    found = await search.search(fake.source, pack(ONE), 9, min_score=0.5)
    assert sorted(hit.id for hit in found) == sorted(far_apart)
    fake.put(far_apart[1], None)
    found = await search.search(fake.source, pack(OTHER), 4 * BLOCK_ROWS, min_score=0.5)
    assert len({hit.id for hit in found}) == 3 * BLOCK_ROWS - 3
    assert fake.loads == [3 * BLOCK_ROWS, 4, 0]
