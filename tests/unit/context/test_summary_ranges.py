"""Summaries cover each message of a branch once, and get coarser with age."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.context.summary_ranges import (
    Covered,
    count_covered,
    count_covered_prefix,
    count_next_range,
    pick_pair_to_merge,
    select_cover,
)
from hitsend.store import MessagePath, Summary

PATH = MessagePath(f"m{number}" for number in range(24))


def summary(first: int, last: int, level: int = 1) -> Summary:
    """Has ten characters."""
    return Summary(f"{level}:{first}-{last}", f"m{first}", f"m{last}", level, "word word.")


def summaries_of(cover: list[Covered]) -> list[Summary]:
    return [one.summary for one in cover]


def covered_places(cover: list[Covered]) -> list[int]:
    return [at for one in cover for at in one.places]


def test_a_merged_summary_replaces_its_parts() -> None:
    fine = [summary(at, at + 1) for at in range(0, 10, 2)]
    cover = select_cover(PATH, [*fine, summary(0, 7, 2)])
    assert [one.id for one in summaries_of(cover)] == ["2:0-7", "1:8-9"]


def test_summaries_of_other_branches_are_ignored() -> None:
    elsewhere = Summary("other", "m0", "x1", 1, "…")
    assert select_cover(PATH, [elsewhere]) == []


def test_messages_without_a_summary_are_a_gap() -> None:
    cover = select_cover(PATH, [summary(0, 1), summary(4, 5)])
    assert covered_places(cover) == [0, 1, 4, 5]
    assert count_covered_prefix(cover) == 2


def test_a_summary_that_ends_beyond_the_first_messages_covers_them() -> None:
    summaries = [summary(0, 3), summary(4, 9), summary(10, 13)]
    cover = select_cover(PATH, summaries, num_first=6)
    assert summaries_of(cover) == summaries[:2]
    assert count_covered(cover, others=(), num_first=6) == 6


def test_a_recalled_message_counts_once_even_if_a_summary_covers_it() -> None:
    cover = select_cover(PATH, [summary(0, 3)])
    assert count_covered(cover, others=[2, 3, 4, 5, 9], num_first=8) == 6


def test_nothing_is_merged_while_all_summaries_fit() -> None:
    fine = [summary(at, at + 1) for at in range(0, 10, 2)]
    assert pick_pair_to_merge(fine, 50) == ()
    assert pick_pair_to_merge(fine[:1], 5) == (), "summaries is nothing to merge it with"


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
def test_the_oldest_summaries_of_similar_level_are_merged(
    levels: list[int], merged: tuple[int, int]
) -> None:
    cover = [summary(at, at, level) for at, level in enumerate(levels)]
    assert pick_pair_to_merge(cover, 15) == tuple(cover[at] for at in merged)


def test_summaries_of_a_long_conversation_fit_and_get_coarser_with_age() -> None:
    path = MessagePath(f"m{number}" for number in range(400))
    summaries: list[Summary] = []
    for number in range(400):
        summaries.append(summary(number, number))
        while several := pick_pair_to_merge(summaries_of(select_cover(path, summaries)), 45):
            one, other = several
            first, last = int(one.first_message_id[1:]), int(other.last_message_id[1:])
            summaries.append(summary(first, last, max(one.level, other.level) + 1))
    cover = select_cover(path, summaries)
    assert len(cover) <= 4
    assert covered_places(cover) == [*range(400)]
    levels = [one.level for one in summaries_of(cover)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] < 40, "the oldest was not summed up with every new one"


def test_a_range_is_whole_exchanges_and_at_least_one() -> None:
    assert count_next_range([], 100) == 0
    assert count_next_range([40, 40], 100) == 0, "summaries is more to come"
    assert count_next_range([40, 40, 40], 100) == 2
    assert count_next_range([500, 40], 100) == 1


RANGES = st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23), st.integers(1, 3)))


@given(RANGES)
def test_no_message_is_covered_twice(ranges: list[tuple[int, int, int]]) -> None:
    summaries = [summary(min(a, b), max(a, b), level) for a, b, level in ranges]
    cover = select_cover(PATH, summaries)
    places = covered_places(cover)
    assert len(places) == len(set(places)) == count_covered(cover, others=(), num_first=24)
