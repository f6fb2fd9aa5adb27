"""Figures of a classifier, checked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training.metrics import Scored, average_precision, compute_figures, find_threshold


def make_rows(*rows: tuple[float, bool]) -> list[Scored]:
    return [
        Scored(score, "block" if score > 0.8 else "ask" if score > 0.5 else "pass", is_positive)
        for score, is_positive in rows
    ]


def test_figures() -> None:
    figures = compute_figures(make_rows((0.9, True), (0.7, False), (0.6, True), (0.1, False)))
    assert figures.precision == pytest.approx(2 / 3)
    assert figures.recall == 1.0
    assert (figures.blocked, figures.false_asked, figures.false_blocked) == (0.5, 0.5, 0.0)
    assert figures.auprc == pytest.approx((1 + 2 / 3) / 2)


def test_rows_of_the_same_score_count_at_once() -> None:
    for order in ((True, False), (False, True)):
        assert average_precision(make_rows(*((0.5, one) for one in order))) == 0.5


def test_no_rows_give_no_figures() -> None:
    assert compute_figures([]).recall == 0.0


@given(st.lists(st.floats(0, 0.99), min_size=1), st.floats(0, 1))
def test_a_threshold_lets_at_most_its_share_through(scores: list[float], share: float) -> None:
    threshold = find_threshold(scores, share)
    assert sum(score >= threshold for score in scores) <= share * len(scores)
