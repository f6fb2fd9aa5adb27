"""How near a memory is to a question."""

from hypothesis import given
from hypothesis import strategies as st

from hitsend.memory.relevance import in_common, nearness, stems

DAY_S = 86_400.0


def test_a_word_in_common_brings_two_texts_nearer() -> None:
    shared = nearness(0.1, "What does my wife like?", "My wife is from Brazil.", DAY_S)
    assert shared > nearness(0.1, "What does he like?", "My wife is from Brazil.", DAY_S)


def test_of_two_alike_the_newer_is_nearer() -> None:
    assert nearness(0.3, "a", "b", DAY_S) > nearness(0.3, "a", "b", 300 * DAY_S)


def test_words_that_every_text_has_say_nothing() -> None:
    assert stems("What should I do with this, and how does it work?") == frozenset()
    assert in_common("How does it work?", "I work at night.") == 0.0


def test_another_form_of_a_word_counts() -> None:
    assert in_common("my tomatoes", "I like tomatoes.") == 1.0
    assert in_common("I am allergic", "my allergy") == 1.0


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert 0.0 <= in_common(one, other) <= 1.0
    assert in_common(one, other) == in_common(other, one)
