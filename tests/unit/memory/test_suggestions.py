"""What may be suggested as a memory, or taken from a model."""

import pytest

from hitsend.memory.suggestions import own_fact, tells_of_person

MESSAGE = (
    "I'm a nurse from Porto and my PIN is 4711. My card is 4556 7375 8689 9855. Write a letter?"
)


@pytest.mark.parametrize("written", ["I am a nurse from Porto.", '"I\'m a nurse."', "My card."])
def test_a_fact_in_the_persons_own_words_is_taken(written: str) -> None:
    assert own_fact(written, MESSAGE) == written.strip('"')


@pytest.mark.parametrize(
    "written",
    [
        "",
        "none",
        "None.",
        "The user is a nurse from Porto.",
        "I am a nurse from Lisbon.",
        "I am a nurse from Porto?",
        "My PIN is 4711.",
        "My card is 4556 7375 8689 9855.",
        "I am " + "a nurse from Porto and " * 20,
        "I am.",
    ],
)
def test_anything_else_is_not(written: str) -> None:
    assert own_fact(written, MESSAGE) is None


@pytest.mark.parametrize(
    ("message", "tells"),
    [
        ("I'm a nurse. Help me with a letter.", True),
        ("My son Tom is six.", True),
        ("Ich wohne in Bern, wo kann ich schwimmen?", True),
        ("Meine Tochter heißt Mia.", True),
        ("What is the capital of France?", False),
        ("Wie groß ist der Mond?", False),
    ],
)
def test_only_what_may_tell_of_the_person_is_looked_into(message: str, tells: bool) -> None:
    assert tells_of_person(message) is tells
