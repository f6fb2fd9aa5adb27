"""The nearest of many vectors, against the plain way of finding them."""

import asyncio
import math
import struct
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitsend.recall.exact import ExactSearch, Hit, Rows

NUM_DIMENSIONS = 4
ROOM = 4 * NUM_DIMENSIONS + sys.getsizeof("0")
"""What one row takes with its name."""
Vector = list[float]

vectors = st.lists(
    st.floats(-1, 1, width=32), min_size=NUM_DIMENSIONS, max_size=NUM_DIMENSIONS
).filter(lambda values: math.hypot(*values) > 0.1)


def packed(*many: Vector) -> bytes:
    return b"".join(
        struct.pack(f"<{len(values)}f", *(value / math.hypot(*values) for value in values))
        for values in many
    )


def rows(*many: Vector) -> Rows:
    return Rows([str(at) for at in range(len(many))], packed(*many))


class Shelf:
    """Rows to be asked for, and how often they were."""

    def __init__(self, content: Rows) -> None:
        self.content = content
        self.num_loads = 0

    async def load(self) -> Rows:
        self.num_loads += 1
        return self.content


@settings(deadline=None)
@given(st.lists(vectors, max_size=20), vectors, st.integers(0, 8), st.floats(-1, 1))
async def test_it_finds_what_comparing_with_each_one_finds(
    many: list[Vector], asked: Vector, k: int, least: float
) -> None:
    shelf = Shelf(rows(*many))
    found = await ExactSearch().nearest("s", "1", shelf.load, packed(asked), k, least=least)
    cosines = sorted((cosine(one, asked) for one in many), reverse=True)
    clearly = [score for score in cosines if score > least + 1e-5][:k]
    perhaps = [score for score in cosines if score > least - 1e-5][:k]
    assert len(clearly) <= len(found) <= len(perhaps)
    assert [hit.score for hit in found] == pytest.approx(perhaps[: len(found)], abs=1e-5)
    assert all(
        hit.score == pytest.approx(cosine(many[int(hit.id)], asked), abs=1e-5) for hit in found
    )


def cosine(one: Vector, other: Vector) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.hypot(*one) / math.hypot(*other)


async def test_of_equals_the_first_comes_first() -> None:
    shelf = Shelf(rows([0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]))
    found = await ExactSearch().nearest("s", "1", shelf.load, packed([1, 0, 0, 0]), 2)
    assert found == [Hit("1", 1.0), Hit("2", 1.0)]


async def test_rows_are_loaded_once_for_each_version() -> None:
    search, shelf, asked = ExactSearch(), Shelf(rows([1, 0, 0, 0])), packed([1, 0, 0, 0])
    for version in ("1", "1", "2", "2"):
        assert await search.nearest("s", version, shelf.load, asked, 1) == [Hit("0", 1.0)]
    assert shelf.num_loads == 2


async def test_a_new_version_is_what_is_found() -> None:
    search, asked = ExactSearch(), packed([1, 0, 0, 0])
    before, after = Shelf(rows([1, 0, 0, 0])), Shelf(Rows([], b""))
    assert await search.nearest("s", "1", before.load, asked, 1)
    assert await search.nearest("s", "2", after.load, asked, 1) == []


async def test_what_was_not_used_for_longest_makes_room() -> None:
    shelves = {space: Shelf(rows([1, 0, 0, 0])) for space in "abc"}
    search, asked = ExactSearch(max_kept_bytes=2 * ROOM), packed([1, 0, 0, 0])
    for space in "abacab":
        await search.nearest(space, "1", shelves[space].load, asked, 1)
    assert {space: shelf.num_loads for space, shelf in shelves.items()} == {"a": 1, "b": 2, "c": 1}


async def test_rows_too_many_to_keep_are_searched_all_the_same() -> None:
    search, shelf = ExactSearch(max_kept_bytes=1), Shelf(rows([1, 0, 0, 0]))
    for _ in range(2):
        assert await search.nearest("s", "1", shelf.load, packed([1, 0, 0, 0]), 1)
    assert shelf.num_loads == 2


async def test_no_room_is_taken_by_spaces_without_rows() -> None:
    full, empty = Shelf(rows([1, 0, 0, 0])), Shelf(Rows([], b""))
    search, asked = ExactSearch(), packed([1, 0, 0, 0])
    await search.nearest("full", "1", full.load, asked, 1)
    for _ in range(2):
        assert await search.nearest("empty", "1", empty.load, asked, 1) == []
    assert (full.num_loads, empty.num_loads) == (1, 2)


async def test_names_take_room_as_vectors_do() -> None:
    long = Shelf(Rows(["n" * 1000], packed([1, 0, 0, 0])))
    search = ExactSearch(max_kept_bytes=500)
    for _ in range(2):
        assert await search.nearest("s", "1", long.load, packed([1, 0, 0, 0]), 1)
    assert long.num_loads == 2


async def test_rows_that_are_loaded_twice_at_once_are_counted_once() -> None:
    shelf, other = Shelf(rows([1, 0, 0, 0])), Shelf(rows([1, 0, 0, 0]))
    search, asked = ExactSearch(max_kept_bytes=2 * ROOM), packed([1, 0, 0, 0])
    both_load = asyncio.Barrier(2)

    async def load() -> Rows:
        await both_load.wait()
        return await shelf.load()

    async with asyncio.timeout(5):
        await asyncio.gather(*(search.nearest("s", "1", load, asked, 1) for _ in range(2)))
    for space in ("other", "s", "other"):
        await search.nearest(space, "1", other.load, asked, 1)
    assert (shelf.num_loads, other.num_loads) == (2, 1)
