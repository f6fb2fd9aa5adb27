"""Stretches of a conversation: which summaries tell of it, and what is to be summed up next.

Pure. Along a path of messages, summaries are made one after another from the oldest message on.
Where they grow too many, the older ones are summed up again, so what was long ago is told in few
words.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise

from hitsend.store import Summary


def covering(
    ids: Sequence[str], summaries: Sequence[Summary], num_first: int | None = None
) -> list[Summary]:
    """Summaries that tell of as much of the path as there is, each message once, the oldest first.
    Those of other branches do not belong to it. Of the `num_first` messages, if so many are given:
    the last of them may tell of some that follow, too."""
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
    while at < (len(ids) if num_first is None else num_first):
        if (told := found.get(at)) is not None:
            covered.append(told)
            at = place[told.last_message_id]
        at += 1
    return covered


def covered_ids(ids: Sequence[str], cover: Sequence[Summary]) -> frozenset[str]:
    """Of the messages, those told of. The last summary may go beyond them."""
    place = {message_id: at for at, message_id in enumerate(ids)}
    stretches = (
        ids[place[one.first_message_id] : place.get(one.last_message_id, len(ids)) + 1]
        for one in cover
    )
    return frozenset(chain.from_iterable(stretches))


def num_covered_from_start(ids: Sequence[str], cover: Sequence[Summary]) -> int:
    """How many of the oldest messages are told of, without a gap."""
    covered = covered_ids(ids, cover)
    return next((at for at, message_id in enumerate(ids) if message_id not in covered), len(ids))


def to_merge(cover: Sequence[Summary], num_chars: int) -> Sequence[Summary]:
    """Two that are to become one; none while all have room. The oldest of those that are about as
    coarse as one another: so none is summed up again and again."""
    if len(cover) < 2 or sum(len(summary.text) for summary in cover) <= num_chars:
        return ()
    return min(pairwise(cover), key=lambda pair: abs(pair[0].level - pair[1].level))


def num_in_stretch(lengths: Iterable[int], most: int) -> int:
    """How many of the first exchanges the next summary tells of: as many as are not longer than
    `most` together, and at least one. None while there is less than that."""
    totals = list(accumulate(lengths))
    if not totals or totals[-1] <= most:
        return 0
    return max(sum(total <= most for total in totals), 1)
