"""Facts that may be suggested as memories."""

import pytest

from hitsend.memory.suggestions import is_stated_by_any, mentions_self, validate_fact

MESSAGE = (
    "I'm a nurse from Porto and my PIN is 4711. My card is 4556 7375 8689 9855. Write a letter?"
)


@pytest.mark.parametrize("written", ["I am a nurse from Porto.", '"I\'m a nurse."', "My card."])
def test_a_fact_in_the_persons_own_words_is_accepted(written: str) -> None:
    assert validate_fact(written, MESSAGE) == written.strip('"')


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
def test_any_other_text_is_rejected(written: str) -> None:
    assert validate_fact(written, MESSAGE) is None


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("I am allergic to nuts.", "I'm not allergic to nuts."),
        ("I don't smoke.", "I smoke."),
        ("I am allergic to nuts and don't smoke.", "I'm not allergic to nuts and don't smoke."),
        ("I smoke.", "I used to smoke."),
        ("Ich esse Fleisch.", "Ich esse kein Fleisch."),
        ("Ich rauche.", "Ich rauche nicht."),
    ],
)
def test_the_opposite_of_the_message_is_rejected(written: str, message: str) -> None:
    assert validate_fact(written, message) is None
    assert validate_fact(message, message) == message


def test_a_negation_in_another_sentence_does_not_matter() -> None:
    message = "I'm a nurse from Porto. I don't know what to write. Don't forget the stamp!"
    assert validate_fact("I am a nurse from Porto.", message) is not None
    assert validate_fact("My dog is Rex.", "Don't forget my dog is Rex.") is not None


@pytest.mark.parametrize(
    ("fact", "is_known"),
    [
        ("I am from Porto.", True),
        ("I'm a nurse.", True),
        ("I am a nurse from Lisbon.", False),
        ("I am not a nurse.", False),
    ],
)
def test_a_fact_stated_in_other_forms_is_known(fact: str, is_known: bool) -> None:
    assert is_stated_by_any(fact, ["I like tea.", "I am a nurse from Porto."]) is is_known


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
def test_only_messages_that_may_state_a_fact_are_checked(message: str, tells: bool) -> None:
    assert mentions_self(message) is tells
