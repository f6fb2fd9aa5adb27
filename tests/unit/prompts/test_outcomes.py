"""An experiment claims no more than its trials show."""

from math import pi, tan
from random import Random
from statistics import NormalDist, fmean

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.messages import Rating
from hitsend.prompts.intervals import incomplete_beta, mean_interval, student_t, welch, wilson
from hitsend.prompts.outcomes import Difference, Outcome, evaluate


class Turn(msgspec.Struct, frozen=True):
    version: int
    user_id: str
    num_output_tokens: int = 100
    rating: Rating | None = None
    beginning: str = "Certainly"
    num_input_tokens: int = 50
    seconds: float | None = 2.0
    first_word_ms: float | None = 300.0


def people(version: int, num: int, num_up: int, num_turns: int = 1) -> list[Turn]:
    return [
        Turn(version, f"{version}-{person}", rating="up" if person < num_up else "down")
        for person in range(num)
        for _ in range(num_turns)
    ]


def clear_differences(outcome: Outcome) -> list[Difference]:
    return [one for one in outcome.differences if one.verdict != "unclear"]


def test_few_people_give_no_result_however_many_turns_they_have() -> None:
    seen = evaluate([1, 1001], people(1, 4, 0, 500) + people(1001, 4, 4, 500))
    assert seen.differences == ()
    assert [variant.num_turns for variant in seen.variants] == [2000, 2000]


def test_an_insignificant_difference_is_unclear() -> None:
    outcome = evaluate([1, 1001], people(1, 20, 9) + people(1001, 20, 12))
    assert {one.verdict for one in outcome.differences} == {"unclear"}


def test_a_significant_difference_is_better_or_worse() -> None:
    seen = evaluate([1, 1001], people(1, 200, 60) + people(1001, 200, 160))
    [liked] = clear_differences(seen)
    assert (liked.version, liked.measure, liked.verdict) == (1001, "liked", "better")
    assert 0.3 < liked.low < 0.5 < liked.high < 0.7


def test_a_person_with_a_hundred_turns_counts_once() -> None:
    often = [Turn(1001, "one", rating="up") for _ in range(1000)]
    seen = evaluate([1, 1001], people(1, 50, 25) + people(1001, 50, 25) + often)
    liked = seen.variants[1].means["liked"]
    assert liked.num_people == 51
    assert liked.value < 0.52
    assert clear_differences(seen) == []


def test_longer_answers_are_neither_better_nor_worse() -> None:
    longer = [Turn(1001, f"l{n}", num_output_tokens=200 + n % 7) for n in range(40)]
    usual = [Turn(1, f"u{n}", num_output_tokens=100 + n % 7) for n in range(40)]
    seen = evaluate([1, 1001], longer + usual)
    [length] = clear_differences(seen)
    assert (length.measure, length.verdict) == ("answer_tokens", "more")


def test_turns_of_other_versions_do_not_count() -> None:
    assert evaluate([1, 1001], people(7, 9, 9)).variants[0].num_turns == 0


def test_few_experiments_without_an_effect_claim_one() -> None:
    chance = Random(5)
    claims = 0
    for _ in range(200):
        turns = [
            Turn(
                version=chance.choice((1, 1001)),
                user_id=str(person),
                num_output_tokens=int(chance.gauss(100, 30)),
                rating=chance.choice(("up", "down")),
                seconds=chance.expovariate(1),
            )
            for person in range(60)
        ]
        claims += clear_differences(evaluate([1, 1001], turns)) != []
    assert claims <= 16


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_the_interval_of_a_proportion_contains_it_and_lies_within_0_and_1(
    share: float, num: int
) -> None:
    low, high = wilson(share, num)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_the_interval_of_a_mean_contains_it(values: list[float]) -> None:
    around = mean_interval(values)
    assert around is not None
    assert around.low <= fmean(values) + 1e-6
    assert fmean(values) - 1e-6 <= around.high


def test_the_formulas_agree_with_textbook_values() -> None:
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert [student_t(0.975, df) for df in (1, 4, 10, 30, 1000)] == pytest.approx(
        [12.7062, 2.7764, 2.2281, 2.0423, 1.9623], abs=1e-4
    )
    assert student_t(0.9995, 4) == pytest.approx(8.6103, abs=1e-4)
    low, high = welch([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], 0.05)
    assert (low, high) == pytest.approx((-0.91, 6.91), abs=0.1)


@given(st.floats(0.9, 0.9999), st.floats(1, 100_000))
def test_the_probability_beyond_a_quantile_is_right(quantile: float, freedom: float) -> None:
    t = student_t(quantile, freedom)
    beyond = incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    assert beyond == pytest.approx(1 - quantile, rel=1e-6)
    assert t >= NormalDist().inv_cdf(quantile) - 1e-6


@given(st.floats(0.9, 0.9999))
def test_the_incomplete_beta_agrees_with_closed_forms(quantile: float) -> None:
    assert student_t(quantile, 1) == pytest.approx(tan(pi * (quantile - 0.5)), rel=1e-6)
