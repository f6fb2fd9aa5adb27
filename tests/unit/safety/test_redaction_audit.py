"""A small part of the audit of redaction; `python -m bench.redaction` does the whole."""

import random

import pytest
from bench.redaction import MIN_PRECISION, MIN_RECALL, Sentence, Value, audit, make_sentences

RESULT = audit([*make_sentences(random.Random(1), num_per_kind=100, num_decoys=500)])


@pytest.mark.parametrize("kind", RESULT.counts)
def test_nearly_all_values_are_found_and_little_else(kind: str) -> None:
    counts = next(counts for name, counts in RESULT.counts.items() if name == kind)
    assert counts.num_values >= 100
    assert counts.recall >= MIN_RECALL, RESULT.missed
    assert counts.precision >= MIN_PRECISION, RESULT.false


def test_the_audit_counts_what_is_missed_and_what_is_found_by_mistake() -> None:
    card, email = "4111 1111 1111 1111", "jo@example.org"
    sentences = [
        Sentence(card, (Value("card", 0, len(card)),)),
        Sentence(f"No. {card}"),
        Sentence(f"{email}, {card[:-1]}2", (Value("email", 0, len(email)), Value("card", 16, 35))),
    ]
    counts = audit(sentences).counts
    assert (counts["card"].num_values, counts["card"].num_found) == (2, 1)
    assert (counts["card"].num_false, counts["card"].precision) == (1, 0.5)
    assert (counts["email"].recall, counts["email"].precision) == (1.0, 1.0)


def test_half_a_value_is_not_found() -> None:
    text = "jo@example.org"
    assert audit([Sentence(f"x{text}", (Value("email", 0, len(text) + 1),))]).counts["email"].recall
    assert not audit([Sentence(text + " 1", (Value("email", 0, 16),))]).counts["email"].recall
