"""Confidence intervals of means and proportions. Knows nothing of prompts."""

from collections.abc import Sequence
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist, fmean, variance
from typing import NamedTuple


class Interval(NamedTuple):
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def wilson(share: float, num: int, chance: float = 0.05) -> Interval:
    """Interval of a proportion. Valid also for few observations, or if all are equal."""
    z = NormalDist().inv_cdf(1 - chance / 2)
    middle = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z * sqrt(share * (1 - share) / num + z * z / (4 * num * num)) / (1 + z * z / num)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def newcombe(one: float, num_one: int, other: float, num_other: int, chance: float) -> Interval:
    """Interval of the difference of two proportions, other minus one, from Wilson's intervals."""
    ours, theirs = wilson(one, num_one, chance), wilson(other, num_other, chance)
    difference = other - one
    return Interval(
        difference - sqrt((other - theirs.low) ** 2 + (ours.high - one) ** 2),
        difference + sqrt((theirs.high - other) ** 2 + (one - ours.low) ** 2),
    )


def mean_interval(values: Sequence[float], chance: float = 0.05) -> Interval | None:
    """Returns None for a single value."""
    if len(values) < 2:
        return None
    half = student_t(1 - chance / 2, len(values) - 1) * sqrt(variance(values) / len(values))
    return Interval(fmean(values) - half, fmean(values) + half)


def welch(one: Sequence[float], other: Sequence[float], chance: float) -> Interval:
    """Interval of the difference of two means, other minus one, with unequal variances."""
    ours, theirs = variance(one) / len(one), variance(other) / len(other)
    difference, spread = fmean(other) - fmean(one), ours + theirs
    if spread == 0:
        return Interval(difference, difference)
    freedom = spread**2 / (ours**2 / (len(one) - 1) + theirs**2 / (len(other) - 1))
    half = student_t(1 - chance / 2, freedom) * sqrt(spread)
    return Interval(difference - half, difference + half)


def student_t(quantile: float, freedom: float) -> float:
    """Quantile of Student's t, by bisection of the incomplete beta function."""
    beyond, low, high = 2 * (1 - quantile), 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        is_short = incomplete_beta(middle, freedom / 2, 0.5) < beyond
        low, high = (middle, high) if is_short else (low, middle)
    return sqrt(freedom * (1 - low) / low)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function, by its continued fraction."""
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    fraction = 1.0
    for n in range(20 + int(3 * sqrt(a + b)), 0, -1):
        fraction = 1 + x * _beta_term(n, a, b) / fraction
    scale = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    return exp(scale) / (a * fraction)


def _beta_term(n: int, a: float, b: float) -> float:
    m, is_odd = divmod(n, 2)
    if is_odd:
        return -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1))
    return m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m))
