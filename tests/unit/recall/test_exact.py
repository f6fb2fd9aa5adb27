"""The nearest of many vectors, against the plain way of finding them."""

import asyncio
import math
import struct
import sys
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.recall.exact import BLOCK_ROWS, ExactSearch, Hit, Rows, Space
from hitsend.store import Changes

NUM_DIMENSIONS = 4
ROOM = 4 * NUM_DIMENSIONS + sys.getsizeof("0")
"""What one row takes with its name."""
Vector = list[float]
ONE, OTHER = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]

vectors = st.lists(
    st.floats(-1, 1, width=32), min_size=NUM_DIMENSIONS, max_size=NUM_DIMENSIONS
).filter(lambda values: math.hypot(*values) > 0.1)


def packed(*many: Vector) -> bytes:
    return b"".join(
        struct.pack(f"<{len(values)}f", *(value / math.hypot(*values) for value in values))
        for values in many
    )


class Shelf:
    """Vectors by id, as a store keeps them, and how many were read each time."""

    def __init__(self, content: dict[str, Vector], owner_id: str = "ada") -> None:
        self.content = content
        self.changes = Changes()
        self.space = Space(owner_id, self.changes, self.load)
        self.loads: list[int] = []

    @classmethod
    def of(cls, *many: Vector) -> "Shelf":
        return cls({str(at): values for at, values in enumerate(many)})

    async def load(self, ids: Collection[str] | None) -> Rows:
        found = [one for one in self.content if ids is None or one in ids]
        self.loads.append(len(found))
        return Rows(found, packed(*(self.content[one] for one in found)))

    def put(self, row_id: str, values: Vector | None) -> None:
        self.content.pop(row_id, None)
        if values is not None:
            self.content[row_id] = values
        self.changes.note(self.space.owner_id, [row_id])


@given(st.lists(vectors, max_size=20), vectors, st.integers(0, 8), st.floats(-1, 1))
async def test_it_finds_what_comparing_with_each_one_finds(
    many: list[Vector], asked: Vector, k: int, least: float
) -> None:
    shelf = Shelf.of(*many)
    found = await ExactSearch().nearest(shelf.space, packed(asked), k, least=least)
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


async def test_who_keeps_up_has_read_what_changed_when_somebody_asks() -> None:
    shelf, search = Shelf.of(ONE), ExactSearch()
    await search.keep_up(shelf.space)
    shelf.put("new", OTHER)
    await search.keep_up(shelf.space)
    loads = list(shelf.loads)
    [hit] = await search.nearest(shelf.space, packed(OTHER), 1)
    assert hit.id == "new"
    assert shelf.loads == loads == [1, 1]


async def test_of_equals_the_first_comes_first() -> None:
    shelf = Shelf.of(OTHER, ONE, ONE, ONE)
    found = await ExactSearch().nearest(shelf.space, packed(ONE), 2)
    assert found == [Hit("1", 1.0), Hit("2", 1.0)]


async def test_only_those_it_is_looked_among_are_found() -> None:
    shelf = Shelf.of(*[ONE] * 100)
    found = await ExactSearch().nearest(shelf.space, packed(ONE), 2, among={"98", "99", "100"})
    assert found == [Hit("98", 1.0), Hit("99", 1.0)]
    assert await ExactSearch().nearest(shelf.space, packed(ONE), 2, among=frozenset()) == []


async def test_of_what_changed_only_that_is_read() -> None:
    search, shelf = ExactSearch(), Shelf.of(ONE, ONE, OTHER)
    await search.nearest(shelf.space, packed(ONE), 9)
    shelf.put("0", None)
    shelf.put("2", ONE)
    shelf.put("3", ONE)
    found = await search.nearest(shelf.space, packed(ONE), 9, least=0.5)
    assert {hit.id for hit in found} == {"1", "2", "3"}
    await search.nearest(shelf.space, packed(ONE), 9)
    assert shelf.loads == [3, 2]


Edit = tuple[int, Vector | None]


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.none() | vectors)), max_size=5), vectors)
async def test_whatever_changes_it_finds_what_one_finds_who_reads_all_anew(
    rounds: list[list[Edit]], asked: Vector
) -> None:
    search, shelf = ExactSearch(), Shelf({})
    shelf.changes = Changes(most=6)
    shelf.space = Space("ada", shelf.changes, shelf.load)
    for edits in rounds:
        for number, values in edits:
            shelf.put(str(number), values)
            shelf.changes.note("eve", ["of somebody else"])
        found = await search.nearest(shelf.space, packed(asked), 20, least=-2)
        anew = await ExactSearch().nearest(shelf.space, packed(asked), 20, least=-2)
        assert {hit.id: hit.score for hit in found} == pytest.approx(
            {hit.id: hit.score for hit in anew}, abs=1e-6
        )


async def test_what_was_cleared_is_found_no_more() -> None:
    search, shelf = ExactSearch(), Shelf.of(ONE, ONE)
    await search.nearest(shelf.space, packed(ONE), 9)
    shelf.content.clear()
    shelf.changes.note("ada")
    assert await search.nearest(shelf.space, packed(ONE), 9) == []


async def test_what_was_not_used_for_longest_makes_room() -> None:
    shelves = {owner: Shelf({"0": ONE}, owner) for owner in "abc"}
    search = ExactSearch(max_kept_bytes=2 * ROOM)
    for owner in "abacab":
        await search.nearest(shelves[owner].space, packed(ONE), 1)
    assert {owner: len(shelf.loads) for owner, shelf in shelves.items()} == {"a": 1, "b": 2, "c": 1}


async def test_rows_too_many_to_keep_are_searched_all_the_same() -> None:
    search, shelf = ExactSearch(max_kept_bytes=1), Shelf.of(ONE)
    for _ in range(2):
        assert await search.nearest(shelf.space, packed(ONE), 1)
    assert len(shelf.loads) == 2


async def test_no_room_is_taken_by_spaces_without_rows() -> None:
    full, empty, search = Shelf({"0": ONE}, "full"), Shelf({}, "empty"), ExactSearch()
    await search.nearest(full.space, packed(ONE), 1)
    for _ in range(2):
        assert await search.nearest(empty.space, packed(ONE), 1) == []
    assert (len(full.loads), len(empty.loads)) == (1, 2)


async def test_names_take_room_as_vectors_do() -> None:
    long, search = Shelf({"n" * 1000: ONE}), ExactSearch(max_kept_bytes=500)
    for _ in range(2):
        assert await search.nearest(long.space, packed(ONE), 1)
    assert len(long.loads) == 2


async def test_rows_that_are_loaded_twice_at_once_are_counted_once() -> None:
    shelf, other = Shelf({"0": ONE}, "ada"), Shelf({"0": ONE}, "eve")
    search, both_load = ExactSearch(max_kept_bytes=2 * ROOM), asyncio.Barrier(2)

    async def load(ids: Collection[str] | None) -> Rows:
        await both_load.wait()
        return await shelf.load(ids)

    space = shelf.space._replace(load=load)
    async with asyncio.timeout(5):
        await asyncio.gather(*(search.nearest(space, packed(ONE), 1) for _ in range(2)))
    for one in (other, shelf, other):
        await search.nearest(one.space, packed(ONE), 1)
    assert (len(shelf.loads), len(other.loads)) == (2, 1)


async def test_changes_among_very_many_are_found_like_all_others() -> None:
    search, shelf = ExactSearch(), Shelf.of(*[OTHER] * 3 * BLOCK_ROWS)
    await search.nearest(shelf.space, packed(ONE), 1)
    far_apart = [str(number) for number in (0, BLOCK_ROWS + 1, 3 * BLOCK_ROWS - 1, 3 * BLOCK_ROWS)]
    for row_id in far_apart:
        shelf.put(row_id, ONE)
    found = await search.nearest(shelf.space, packed(ONE), 9, least=0.5)
    assert sorted(hit.id for hit in found) == sorted(far_apart)
    shelf.put(far_apart[1], None)
    found = await search.nearest(shelf.space, packed(OTHER), 4 * BLOCK_ROWS, least=0.5)
    assert len({hit.id for hit in found}) == 3 * BLOCK_ROWS - 3
    assert shelf.loads == [3 * BLOCK_ROWS, 4, 0]
