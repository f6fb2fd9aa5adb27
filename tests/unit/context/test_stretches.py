"""Summaries tell of each message once, of this branch only, and grow coarser with age."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.context.stretches import (
    covered_ids,
    covering,
    num_covered_from_start,
    num_in_stretch,
    to_merge,
)
from hitsend.store import Summary

PATH = [f"m{number}" for number in range(24)]


def summary(first: int, last: int, level: int = 1) -> Summary:
    """Of ten characters."""
    return Summary(f"{level}:{first}-{last}", f"m{first}", f"m{last}", level, "word word.")


def test_the_coarser_summary_stands_for_those_it_is_made_of() -> None:
    fine = [summary(at, at + 1) for at in range(0, 10, 2)]
    cover = covering(PATH, [*fine, summary(0, 7, 2)])
    assert [one.id for one in cover] == ["2:0-7", "1:8-9"]


def test_a_summary_of_another_branch_is_none_of_this() -> None:
    elsewhere = Summary("other", "m0", "x1", 1, "…")
    assert covering(PATH, [elsewhere]) == []


def test_what_is_not_told_of_is_a_gap() -> None:
    cover = covering(PATH, [summary(0, 1), summary(4, 5)])
    assert covered_ids(PATH, cover) == {"m0", "m1", "m4", "m5"}
    assert num_covered_from_start(PATH, cover) == 2


def test_a_summary_that_goes_on_beyond_the_first_messages_tells_of_them_too() -> None:
    there = [summary(0, 3), summary(4, 9), summary(10, 13)]
    cover = covering(PATH, there, num_first=6)
    assert cover == there[:2]
    assert covered_ids(PATH[:6], cover) == set(PATH[:6])


def test_as_long_as_there_is_room_none_become_one() -> None:
    fine = [summary(at, at + 1) for at in range(0, 10, 2)]
    assert to_merge(fine, 50) == ()
    assert to_merge(fine[:1], 5) == (), "there is nothing to merge it with"


@pytest.mark.parametrize(
    ("levels", "merged"),
    [
        ([1, 1, 1, 1], (0, 1)),
        ([2, 1, 1, 1], (1, 2)),
        ([2, 2, 1, 1], (0, 1)),
        ([4, 3, 2, 1], (0, 1)),
        ([5, 2, 1], (1, 2)),
    ],
)
def test_the_oldest_that_are_alike_become_one(levels: list[int], merged: tuple[int, int]) -> None:
    cover = [summary(at, at, level) for at, level in enumerate(levels)]
    assert to_merge(cover, 15) == tuple(cover[at] for at in merged)


def test_a_long_talk_is_told_in_as_much_room_as_there_is_coarser_with_age() -> None:
    path = [f"m{number}" for number in range(400)]
    there: list[Summary] = []
    for number in range(400):
        there.append(summary(number, number))
        while several := to_merge(covering(path, there), 45):
            one, other = several
            first, last = int(one.first_message_id[1:]), int(other.last_message_id[1:])
            there.append(summary(first, last, max(one.level, other.level) + 1))
    cover = covering(path, there)
    assert len(cover) <= 4
    assert covered_ids(path, cover) == set(path)
    levels = [one.level for one in cover]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] < 40, "the oldest was not summed up with every new one"


def test_a_stretch_is_whole_exchanges_and_at_least_one() -> None:
    assert num_in_stretch([], 100) == 0
    assert num_in_stretch([40, 40], 100) == 0, "there is more to come"
    assert num_in_stretch([40, 40, 40], 100) == 2
    assert num_in_stretch([500, 40], 100) == 1


STRETCHES = st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23), st.integers(1, 3)))


@given(STRETCHES)
def test_no_message_is_told_of_twice(stretches: list[tuple[int, int, int]]) -> None:
    there = [summary(min(a, b), max(a, b), level) for a, b, level in stretches]
    cover = covering(PATH, there)
    lengths = [int(one.last_message_id[1:]) - int(one.first_message_id[1:]) + 1 for one in cover]
    assert sum(lengths) == len(covered_ids(PATH, cover))
