"""Ranges of messages that summaries cover: which to show, and which range to summarise next.

Pure functions. Along a path, summaries are written one after another from the oldest message on.
When they become too long, older ones are merged, so older messages get shorter summaries.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from hitsend.store import MessagePath, Summary


class Covered(NamedTuple):
    places: range
    """The messages of the path that the summary stands for."""
    summary: Summary


def select_cover(
    path: MessagePath, summaries: Iterable[Summary], num_first: int | None = None
) -> list[Covered]:
    """Returns summaries that cover as much of the path as possible, each message once, oldest
    first. Ignores those of other branches. With `num_first`, covers only that many messages; the
    last summary may cover some that follow."""
    longest: dict[int, Covered] = {}
    for summary in summaries:
        first, last = path.place(summary.first_message_id), path.place(summary.last_message_id)
        if first is None or last is None:
            continue
        places = range(first, last + 1)
        if first not in longest or len(longest[first].places) < len(places):
            longest[first] = Covered(places, summary)
    cover: list[Covered] = []
    end = 0
    for first in sorted(longest):
        if end <= first < (len(path) if num_first is None else num_first):
            cover.append(longest[first])
            end = longest[first].places.stop
    return cover


def count_covered_prefix(cover: Iterable[Covered]) -> int:
    """Returns how many of the oldest messages are covered without a gap."""
    end = 0
    for one in cover:
        if one.places.start > end:
            break
        end = one.places.stop
    return end


def count_covered(cover: Iterable[Covered], others: Iterable[int], num_first: int) -> int:
    """Returns how many of the first messages are covered, or are at one of the other places."""
    ranges = [range(one.places.start, min(one.places.stop, num_first)) for one in cover]
    others = {at for at in others if at < num_first and not any(at in one for one in ranges)}
    return sum(map(len, ranges)) + len(others)


def pick_pair_to_merge(cover: Sequence[Summary], num_chars: int) -> Sequence[Summary]:
    """Returns two neighbours to merge, or none while all fit. Prefers the oldest pair of similar
    level, so no summary is merged again and again."""
    if len(cover) < 2 or sum(len(summary.text) for summary in cover) <= num_chars:
        return ()
    return min(pairwise(cover), key=lambda pair: abs(pair[0].level - pair[1].level))


def count_next_range(lengths: Iterable[int], max_length: int) -> int:
    """Returns how many of the first exchanges the next summary covers: as many as fit into
    `max_length`, at least one. Returns 0 while all of them fit."""
    totals = list(accumulate(lengths))
    if not totals or totals[-1] <= max_length:
        return 0
    return max(sum(total <= max_length for total in totals), 1)
