"""What came of an experiment: each variant in numbers, and whether they differ by more than chance.

People are drawn by lot, not turns: somebody who asks a hundred times is one witness, not a hundred.
So each person counts once, with their own mean. Many numbers are compared at once, and one of them
is always the largest by chance; each has to be surer for that (Bonferroni).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal, Protocol, TypeAlias, get_args

import msgspec

from hitsend.prompts.intervals import Range, around_mean, newcombe, welch, wilson

MIN_PEOPLE = 5
"""Of each version. Below that nothing is said of differences."""
CHANCE = 0.05

Measure: TypeAlias = Literal[
    "liked", "declined", "answer_tokens", "input_tokens", "first_word_ms", "seconds"
]
Verdict: TypeAlias = Literal["better", "worse", "more", "less", "unclear"]
"""More or less of what is neither good nor bad in itself."""

SHARES: frozenset[Measure] = frozenset({"liked", "declined"})
BETTER: Mapping[Measure, Literal["high", "low"]] = {
    "liked": "high", "declined": "low", "first_word_ms": "low", "seconds": "low",
}  # fmt: skip


class Tried(Protocol):
    """A turn that took part."""

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
    """Over people, with the interval that holds the truth 19 times in 20."""

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
    """How much more one has than the first. Unclear where that may be chance."""

    version: int
    measure: Measure
    low: float
    high: float
    verdict: Verdict


class Outcome(msgspec.Struct, frozen=True):
    variants: tuple[Variant, ...]
    differences: tuple[Difference, ...]
    min_people: int = MIN_PEOPLE


People: TypeAlias = Mapping[Measure, Sequence[float]]
"""One value for each person of whom there is one."""


def outcome(versions: Sequence[int], trials: Iterable[Tried]) -> Outcome:
    """The first version is the one the others are held against."""
    taken: dict[int, list[Tried]] = {version: [] for version in versions}
    for trial in trials:
        if trial.version in taken:
            taken[trial.version].append(trial)
    people = {version: _people(turns) for version, turns in taken.items()}
    variants = tuple(_variant(version, taken[version], people[version]) for version in versions)
    differences = tuple(_differences(versions, people))
    return Outcome(variants, differences)


def is_declining(beginning: str) -> bool:
    """Whether an answer begins like one that is none."""
    return DECLINING.match(beginning.strip()) is not None


SORRY = (
    r"(?:i['’]?m|i am)?\s?(?:so |very )?sorry|i apologi[sz]e|my apologies|unfortunately|as an ai\b"
    r"|(?:es )?tut mir (?:sehr )?leid|leider|entschuldig"
)
CANNOT = (
    r"i (?:can(?:no|['’]?)t|can not|won['’]?t|am unable|am not able)|i['’]m (?:unable|not able)"
    r"|(?:ich kann|kann ich|ich darf|darf ich)(?: \w+){0,6} nicht"
)
EAGER = r" (?:wait|erwarten|genug|(?:\w+ ){1,6}enough)\b"
"""I can't wait, and could not recommend it enough."""
DECLINING = re.compile(
    rf"(?:(?:{SORRY})[^.!?\n]{{0,80}}?\b)?(?:{CANNOT})\b(?!{EAGER})", re.IGNORECASE
)


def _people(trials: Iterable[Tried]) -> People:
    values: dict[Measure, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        for measure, value in _values(trial).items():
            if value is not None:
                values[measure][trial.user_id].append(value)
    return {measure: [fmean(own) for own in by.values()] for measure, by in values.items()}


def _values(trial: Tried) -> Mapping[Measure, float | None]:
    return {
        "liked": None if trial.rating is None else float(trial.rating == "up"),
        "declined": float(is_declining(trial.beginning)),
        "answer_tokens": trial.num_output_tokens,
        "input_tokens": trial.num_input_tokens,
        "first_word_ms": trial.first_word_ms,
        "seconds": trial.seconds,
    }


def _variant(version: int, trials: Sequence[Tried], people: People) -> Variant:
    return Variant(
        version=version,
        num_people=len({trial.user_id for trial in trials}),
        num_turns=len(trials),
        num_up=sum(trial.rating == "up" for trial in trials),
        num_down=sum(trial.rating == "down" for trial in trials),
        num_declined=sum(is_declining(trial.beginning) for trial in trials),
        means={measure: _mean(measure, values) for measure, values in people.items()},
    )


def _mean(measure: Measure, values: Sequence[float]) -> Mean:
    value = fmean(values)
    around = wilson(value, len(values)) if measure in SHARES else around_mean(values)
    low, high = around or (None, None)
    return Mean(value, low, high, len(values))


def _differences(versions: Sequence[int], people: Mapping[int, People]) -> Iterable[Difference]:
    first, *others = versions
    compared = [
        (version, measure, people[first][measure], people[version][measure])
        for version in others
        for measure in get_args(Measure)
        if _is_enough(people[first], measure) and _is_enough(people[version], measure)
    ]
    for version, measure, one, other in compared:
        chance = CHANCE / len(compared)
        by = _difference(measure, one, other, chance)
        yield Difference(version, measure, by.low, by.high, _verdict(measure, by))


def _is_enough(people: People, measure: Measure) -> bool:
    return len(people.get(measure, ())) >= MIN_PEOPLE


def _difference(
    measure: Measure, one: Sequence[float], other: Sequence[float], chance: float
) -> Range:
    if measure in SHARES:
        return newcombe(fmean(one), len(one), fmean(other), len(other), chance)
    return welch(one, other, chance)


def _verdict(measure: Measure, by: Range) -> Verdict:
    if not by.is_beyond_chance:
        return "unclear"
    is_more = by.low > 0
    if measure not in BETTER:
        return "more" if is_more else "less"
    return "better" if is_more == (BETTER[measure] == "high") else "worse"
