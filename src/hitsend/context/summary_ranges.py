"""Ranges of messages that summaries cover: which to show, and which range to summarise next.

Pure functions. Along a path, summaries are written one after another from the oldest message on.
When they become too long, older ones are merged, so older messages get shorter summaries.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise

from hitsend.store import Summary


def select_cover(
    ids: Sequence[str], summaries: Sequence[Summary], num_first: int | None = None
) -> list[Summary]:
    """Returns summaries that cover as much of the path as possible, each message once, oldest
    first. Ignores those of other branches. With `num_first`, covers only that many messages; the
    last summary may cover some that follow."""
    place = {message_id: at for at, message_id in enumerate(ids)}
    found: dict[int, Summary] = {}
    for summary in summaries:
        first, last = place.get(summary.first_message_id), place.get(summary.last_message_id)
        if first is None or last is None:
            continue
        longest = found.get(first)
        if longest is None or place[longest.last_message_id] < last:
            found[first] = summary
    cover: list[Summary] = []
    at = 0
    while at < (len(ids) if num_first is None else num_first):
        if (longest := found.get(at)) is not None:
            cover.append(longest)
            at = place[longest.last_message_id]
        at += 1
    return cover


def covered_ids(ids: Sequence[str], cover: Sequence[Summary]) -> frozenset[str]:
    """Returns the messages that are covered. The last summary may go beyond them."""
    place = {message_id: at for at, message_id in enumerate(ids)}
    ranges = (
        ids[place[one.first_message_id] : place.get(one.last_message_id, len(ids)) + 1]
        for one in cover
    )
    return frozenset(chain.from_iterable(ranges))


def count_covered_prefix(ids: Sequence[str], cover: Sequence[Summary]) -> int:
    """Returns how many of the oldest messages are covered without a gap."""
    covered = covered_ids(ids, cover)
    return next((at for at, message_id in enumerate(ids) if message_id not in covered), len(ids))


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
