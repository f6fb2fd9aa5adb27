import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from hitsend.messages import Alternative, Token
from hitsend.uncertainty import Uncertainty, entropy_bits


def top(*probabilities: float) -> tuple[Alternative, ...]:
    return tuple(Alternative(i, "", math.log(chance)) for i, chance in enumerate(probabilities))


def token(chosen: float | None, *likely: float) -> Token:
    return Token(0, "a", None if chosen is None else math.log(chosen), 1.0, top(*likely))


def test_an_even_choice_of_four_is_two_bits() -> None:
    assert entropy_bits(top(0.25, 0.25, 0.25, 0.25)) == pytest.approx(2.0)


def test_a_certain_token_is_no_choice() -> None:
    assert entropy_bits(top(1.0)) == 0.0


def test_both_are_means_over_the_tokens_with_probabilities() -> None:
    uncertainty = Uncertainty()
    uncertainty.add([token(0.5, 0.5, 0.5), token(None)])
    uncertainty.add([token(0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125)])
    assert uncertainty.entropy == 2.0
    assert uncertainty.surprisal == 2.0


def test_tokens_without_probabilities_give_no_mean() -> None:
    uncertainty = Uncertainty()
    uncertainty.add([token(None)])
    assert uncertainty.entropy is UNSET
    assert uncertainty.surprisal is UNSET


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=40), st.integers(1, 20))
def test_entropy_of_the_top_tokens_is_a_lower_bound(
    weights: list[float], num_recorded: int
) -> None:
    chances = sorted((weight / sum(weights) for weight in weights), reverse=True)
    whole = -sum(chance * math.log2(chance) for chance in chances)
    assert 0.0 <= entropy_bits(top(*chances[:num_recorded])) <= whole + 1e-9
