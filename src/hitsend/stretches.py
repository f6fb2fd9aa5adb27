"""Stretches of a conversation: which summaries tell of it, and what is to be summed up next.

Pure. Along a path of messages, summaries are made one after another from the oldest message on.
Those of a level are summed up again as they grow old, so what was long ago is told in few words.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from hitsend.store import Summary

NUM_MERGED = 4
"""Summaries that become one of the next level. One more than that stays as it is: it is newest."""


def covering(ids: Sequence[str], summaries: Sequence[Summary]) -> list[Summary]:
    """Summaries that tell of as much of the path as there is, each message once, the oldest first.
    Those of other branches do not belong to it."""
    place = {message_id: at for at, message_id in enumerate(ids)}
    found: dict[int, Summary] = {}
    for summary in summaries:
        first, last = place.get(summary.first_message_id), place.get(summary.last_message_id)
        if first is None or last is None:
            continue
        known = found.get(first)
        if known is None or place[known.last_message_id] < last:
            found[first] = summary
    covered: list[Summary] = []
    at = 0
    while at < len(ids):
        if (told := found.get(at)) is not None:
            covered.append(told)
            at = place[told.last_message_id]
        at += 1
    return covered


def covered_ids(ids: Sequence[str], cover: Sequence[Summary]) -> frozenset[str]:
    place = {message_id: at for at, message_id in enumerate(ids)}
    return frozenset(
        message_id
        for summary in cover
        for message_id in ids[place[summary.first_message_id] : place[summary.last_message_id] + 1]
    )


def num_covered_from_start(ids: Sequence[str], cover: Sequence[Summary]) -> int:
    """How many of the oldest messages are told of, without a gap."""
    covered = covered_ids(ids, cover)
    return next((at for at, message_id in enumerate(ids) if message_id not in covered), len(ids))


def to_merge(cover: Sequence[Summary]) -> Sequence[Summary]:
    """The oldest that are to become one; none while there are few."""
    for level in sorted({summary.level for summary in cover}):
        same = [summary for summary in cover if summary.level == level]
        if len(same) > NUM_MERGED:
            return same[:NUM_MERGED]
    return ()


def num_in_stretch(lengths: Iterable[int], most: int) -> int:
    """How many of the first exchanges the next summary tells of: as many as are not longer than
    `most` together, and at least one. None while there is less than that."""
    totals = list(accumulate(lengths))
    if not totals or totals[-1] <= most:
        return 0
    return max(sum(total <= most for total in totals), 1)
