"""Evaluates an experiment: the means of each variant, and whether they differ significantly.

Variants are assigned to people, not to turns, so each person counts once, with their own mean.
Several measures are compared at once, so the significance level is divided by their number
(Bonferroni).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal, Protocol, TypeAlias, get_args

import msgspec

from hitsend.prompts.intervals import Interval, mean_interval, newcombe, welch, wilson
from hitsend.safety.refusals import is_refusal

MIN_PEOPLE = 5
"""Per version. With fewer, differences are not evaluated."""
SIGNIFICANCE = 0.05

Measure: TypeAlias = Literal[
    "liked", "declined", "answer_tokens", "input_tokens", "first_word_ms", "seconds"
]
Verdict: TypeAlias = Literal["better", "worse", "more", "less", "unclear"]
""" "more" and "less" are for measures that are neither good nor bad."""

SHARES: frozenset[Measure] = frozenset({"liked", "declined"})
BETTER: Mapping[Measure, Literal["high", "low"]] = {
    "liked": "high", "declined": "low", "first_word_ms": "low", "seconds": "low",
}  # fmt: skip


class Trial(Protocol):
    """A turn of the experiment."""

    @property
    def version(self) -> int: ...
    @property
    def user_id(self) -> str: ...
    @property
    def num_input_tokens(self) -> int: ...
    @property
    def num_output_tokens(self) -> int: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def first_word_ms(self) -> float | None: ...
    @property
    def rating(self) -> Literal["up", "down"] | None: ...
    @property
    def beginning(self) -> str: ...


class Mean(msgspec.Struct, frozen=True):
    """A mean over people, with its 95 % confidence interval."""

    value: float
    low: float | None
    high: float | None
    num_people: int


class Variant(msgspec.Struct, frozen=True):
    version: int
    num_people: int
    num_turns: int
    num_up: int
    num_down: int
    num_declined: int
    means: Mapping[Measure, Mean]


class Difference(msgspec.Struct, frozen=True):
    """The difference of a version to the first. "unclear" if it is not significant."""

    version: int
    measure: Measure
    low: float
    high: float
    verdict: Verdict


class Outcome(msgspec.Struct, frozen=True):
    variants: tuple[Variant, ...]
    differences: tuple[Difference, ...]
    min_people: int = MIN_PEOPLE


PersonMeans: TypeAlias = Mapping[Measure, Sequence[float]]
"""For each measure, one mean for each person who has values."""


def evaluate(versions: Sequence[int], trials: Iterable[Trial]) -> Outcome:
    """Compares the other versions with the first."""
    by_version: dict[int, list[Trial]] = {version: [] for version in versions}
    for trial in trials:
        if trial.version in by_version:
            by_version[trial.version].append(trial)
    means = {version: _person_means(turns) for version, turns in by_version.items()}
    variants = tuple(_variant(version, by_version[version], means[version]) for version in versions)
    differences = tuple(_differences(versions, means))
    return Outcome(variants, differences)


def _person_means(trials: Iterable[Trial]) -> PersonMeans:
    values: dict[Measure, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        for measure, value in _values(trial).items():
            if value is not None:
                values[measure][trial.user_id].append(value)
    return {measure: [fmean(own) for own in by.values()] for measure, by in values.items()}


def _values(trial: Trial) -> Mapping[Measure, float | None]:
    return {
        "liked": None if trial.rating is None else float(trial.rating == "up"),
        "declined": float(is_refusal(trial.beginning)),
        "answer_tokens": trial.num_output_tokens,
        "input_tokens": trial.num_input_tokens,
        "first_word_ms": trial.first_word_ms,
        "seconds": trial.seconds,
    }


def _variant(version: int, trials: Sequence[Trial], people: PersonMeans) -> Variant:
    return Variant(
        version=version,
        num_people=len({trial.user_id for trial in trials}),
        num_turns=len(trials),
        num_up=sum(trial.rating == "up" for trial in trials),
        num_down=sum(trial.rating == "down" for trial in trials),
        num_declined=sum(is_refusal(trial.beginning) for trial in trials),
        means={measure: _mean(measure, values) for measure, values in people.items()},
    )


def _mean(measure: Measure, values: Sequence[float]) -> Mean:
    value = fmean(values)
    around = wilson(value, len(values)) if measure in SHARES else mean_interval(values)
    low, high = around or (None, None)
    return Mean(value, low, high, len(values))


def _differences(
    versions: Sequence[int], people: Mapping[int, PersonMeans]
) -> Iterable[Difference]:
    first, *others = versions
    compared = [
        (version, measure, people[first][measure], people[version][measure])
        for version in others
        for measure in get_args(Measure)
        if _has_enough_people(people[first], measure)
        and _has_enough_people(people[version], measure)
    ]
    for version, measure, one, other in compared:
        chance = SIGNIFICANCE / len(compared)
        by = _difference(measure, one, other, chance)
        yield Difference(version, measure, by.low, by.high, _verdict(measure, by))


def _has_enough_people(people: PersonMeans, measure: Measure) -> bool:
    return len(people.get(measure, ())) >= MIN_PEOPLE


def _difference(
    measure: Measure, one: Sequence[float], other: Sequence[float], chance: float
) -> Interval:
    if measure in SHARES:
        return newcombe(fmean(one), len(one), fmean(other), len(other), chance)
    return welch(one, other, chance)


def _verdict(measure: Measure, by: Interval) -> Verdict:
    if not by.excludes_zero:
        return "unclear"
    is_more = by.low > 0
    if measure not in BETTER:
        return "more" if is_more else "less"
    return "better" if is_more == (BETTER[measure] == "high") else "worse"
