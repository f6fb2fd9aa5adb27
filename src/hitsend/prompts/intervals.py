"""How far a mean or a share may be from the truth: a few formulas, and nothing of prompts."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, variance
from typing import NamedTuple


class Range(NamedTuple):
    low: float
    high: float

    @property
    def is_beyond_chance(self) -> bool:
        """Of a difference: it is none that is not there."""
        return self.low > 0 or self.high < 0


def wilson(share: float, num: int, chance: float = 0.05) -> Range:
    """Of a share that was seen among so many. Holds also where they are few, or all alike."""
    z = NormalDist().inv_cdf(1 - chance / 2)
    middle = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z * sqrt(share * (1 - share) / num + z * z / (4 * num * num)) / (1 + z * z / num)
    return Range(max(0.0, middle - half), min(1.0, middle + half))


def newcombe(one: float, num_one: int, other: float, num_other: int, chance: float) -> Range:
    """Of the difference of two shares, other minus one: made of the two intervals of Wilson's."""
    ours, theirs = wilson(one, num_one, chance), wilson(other, num_other, chance)
    difference = other - one
    return Range(
        difference - sqrt((other - theirs.low) ** 2 + (ours.high - one) ** 2),
        difference + sqrt((theirs.high - other) ** 2 + (one - ours.low) ** 2),
    )


def around_mean(values: Sequence[float], chance: float = 0.05) -> Range | None:
    """None where one value alone says nothing of how they differ."""
    if len(values) < 2:
        return None
    half = student(1 - chance / 2, len(values) - 1) * sqrt(variance(values) / len(values))
    return Range(fmean(values) - half, fmean(values) + half)


def welch(one: Sequence[float], other: Sequence[float], chance: float) -> Range:
    """Of the difference of two means, other minus one, of which either may vary more."""
    ours, theirs = variance(one) / len(one), variance(other) / len(other)
    difference, spread = fmean(other) - fmean(one), ours + theirs
    if spread == 0:
        return Range(difference, difference)
    freedom = spread**2 / (ours**2 / (len(one) - 1) + theirs**2 / (len(other) - 1))
    half = student(1 - chance / 2, freedom) * sqrt(spread)
    return Range(difference - half, difference + half)


def student(quantile: float, freedom: float) -> float:
    """Of Student's t, by the expansion around the normal one: right to 1 % from 4 on."""
    z = NormalDist().inv_cdf(quantile)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))
