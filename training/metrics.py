"""Figures of a classifier over labelled scores."""

from collections.abc import Sequence
from dataclasses import dataclass

from hitsend.safety.classifier import Decision


@dataclass(frozen=True)
class Scored:
    """One row and one head of it."""

    score: float
    decision: Decision
    is_positive: bool


@dataclass(frozen=True)
class Figures:
    num_positive: int
    num_negative: int
    precision: float
    """Of what is asked about or blocked."""
    recall: float
    blocked: float
    """Share of the positive rows that are blocked."""
    false_asked: float
    """Share of the negative rows that are asked about or blocked."""
    false_blocked: float
    auprc: float


def compute_figures(rows: Sequence[Scored]) -> Figures:
    positive = [row for row in rows if row.is_positive]
    negative = [row for row in rows if not row.is_positive]
    num_hits = sum(row.decision != "pass" for row in positive)
    num_false = sum(row.decision != "pass" for row in negative)
    return Figures(
        num_positive=len(positive),
        num_negative=len(negative),
        precision=_share(num_hits, num_hits + num_false),
        recall=_share(num_hits, len(positive)),
        blocked=_share(sum(row.decision == "block" for row in positive), len(positive)),
        false_asked=_share(num_false, len(negative)),
        false_blocked=_share(sum(row.decision == "block" for row in negative), len(negative)),
        auprc=average_precision(rows),
    )


def average_precision(rows: Sequence[Scored]) -> float:
    """The area under the curve of precision over recall. Rows of the same score count at once."""
    num_positive = sum(row.is_positive for row in rows)
    if not num_positive:
        return 0.0
    area, num_hits, num_seen, at = 0.0, 0, 0, 0
    ordered = sorted(rows, key=lambda row: -row.score)
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end].score == ordered[at].score:
            end += 1
        new_hits = sum(row.is_positive for row in ordered[at:end])
        num_hits, num_seen = num_hits + new_hits, num_seen + end - at
        area += new_hits / num_positive * num_hits / num_seen
        at = end
    return area


def find_threshold(negatives: Sequence[float], share: float) -> float:
    """Returns the lowest threshold that at most this share of the negative scores reaches."""
    ordered = sorted(negatives, reverse=True)
    num_allowed = int(share * len(ordered))
    if num_allowed >= len(ordered):
        return 0.0
    highest_below = ordered[num_allowed]
    return min(highest_below + (1.0 - highest_below) * 1e-6, 1.0)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
