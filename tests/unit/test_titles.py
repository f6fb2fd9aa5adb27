"""The first words of a message are its first title; some of a model's titles replace it.

Many of the examples were really written by a model.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.titles import MAX_CHARS, clean_title, title_from_text, validate_title

LISBON = (
    "Hi! I am planning a trip to Lisbon with my two small children in May, we like beaches and "
    "trams. What would be a good plan for three days?"
)
RENT = (
    "My landlord wants to raise my rent by 20% next month, he sent only a text message. Is he "
    "allowed to do that? I live in Berlin."
)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("  two\n lines ", "two lines"),
        ("word " * 40, "word word word word word word word word word word word word…"),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_a_title_is_short_and_on_one_line(text: str, title: str) -> None:
    assert title_from_text(text) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ('"Lisbon trip with children"', "Lisbon trip with children"),
        ("Title: Lisbon trip.", "Lisbon trip"),
        ("**Title: Lisbon trip**\n\nMore", "Lisbon trip"),
        ("\n  Lisbon \t trip ", "Lisbon trip"),
        ("„Reise nach Lissabon“", "Reise nach Lissabon"),
        ("", ""),
        ("```", ""),
        ("Penguins are the only penguins that can fly.", ""),
        ("word " * 10, ""),
        ("x" * 61, ""),
    ],
)
def test_a_title_is_one_short_line_without_ornaments(written: str, title: str) -> None:
    assert clean_title(written) == title


@given(st.text())
def test_whatever_is_written_a_title_is_one_line_that_fits(written: str) -> None:
    title = clean_title(written)
    assert len(title) <= MAX_CHARS
    assert len(title.splitlines()) <= 1
    assert title == title.strip()


@pytest.mark.parametrize(
    ("written", "question"),
    [
        ("Three days in Lisbon with two children in May", LISBON),
        ("Lisbon trip with children", LISBON),
        ("Rent increase in Berlin", RENT),
    ],
)
def test_a_title_about_the_topic_is_accepted(written: str, question: str) -> None:
    assert validate_title(written, question, "A rent increase needs") == written


@pytest.mark.parametrize(
    ("written", "question"),
    [
        ("Double free in a C program", LISBON),
        ("Gelbe Blätter trotz Gießen", RENT),
        ("The Unyielding Unshakeable Unyielding", RENT),
        ("No, you cannot raise your rent in Berlin", RENT),
        ("I am planning a trip to Lisbon", LISBON),
        ("My landlord wants to raise", RENT),
        ("Why is the sky blue today, do you know?", "Why is the sky so blue today?"),
        ("!!", RENT),
    ],
)
def test_guesses_answers_and_repetitions_are_rejected(written: str, question: str) -> None:
    assert validate_title(written, question, "") is None
