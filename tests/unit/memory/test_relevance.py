"""The relevance of a memory to a question."""

from hypothesis import given
from hypothesis import strategies as st

from hitsend.memory.relevance import score_relevance, stems, word_overlaps

DAY_S = 86_400.0


def word_overlap(question: str, text: str) -> float:
    return word_overlaps(question, {"text": text})["text"]


def test_a_shared_word_raises_the_score() -> None:
    shared = score_relevance(0.1, "What does my wife like?", "My wife is from Brazil.", DAY_S)
    assert shared > score_relevance(0.1, "What does he like?", "My wife is from Brazil.", DAY_S)


def test_of_two_equal_memories_the_newer_scores_higher() -> None:
    assert score_relevance(0.3, "a", "b", DAY_S) > score_relevance(0.3, "a", "b", 300 * DAY_S)


def test_stop_words_do_not_count() -> None:
    assert stems("What should I do with this, and how does it work?") == frozenset()
    assert word_overlap("How does it work?", "I work at night.") == 0.0


def test_another_form_of_a_word_counts_as_shared() -> None:
    assert word_overlap("my tomatoes", "I like tomatoes.") == 1.0
    assert word_overlap("I am allergic", "my allergy") == 1.0


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert 0.0 <= word_overlap(one, other) <= 1.0
    assert word_overlap(one, other) == word_overlap(other, one)
