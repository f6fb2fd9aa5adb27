"""Requests to remember or forget, and messages that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.memory.intent import (
    Forget,
    ForgetAll,
    Remember,
    has_more_text,
    is_german,
    may_be_intent,
    parse_intent,
)

REMEMBERED = {
    "Remember that I bake on Sundays.": "I bake on Sundays.",
    "please remember: my dog is called Rex": "My dog is called Rex.",
    "Remember that I'm allergic to peanuts. What can I eat?": "I'm allergic to peanuts.",
    "remember my birthday is on 3 May": "My birthday is on 3 May.",
    "Can you remember that I live in St. Gallen?": "I live in St. Gallen.",
    "Could you please remember that I hate olives?": "I hate olives.",
    "Remember, I'm left-handed": "I'm left-handed.",
    "don't forget that I have two kids": "I have two kids.",
    "Hey, remember to call me Ada": "Call me Ada.",
    "From now on, please call me Bob.": "Call me Bob.",
    "Would you please call me Ada Lovelace from now on?": "Call me Ada Lovelace.",
    "Ab jetzt nenn mich Anna": "Nenn mich Anna.",
    "Remember that Luna is my cat": "Luna is my cat.",
    "I want you to remember that we moved to Oslo": "We moved to Oslo.",
    "Save this to memory: I work at night": "I work at night.",
    "Remember: I live in Bern. I have a boat.": "I live in Bern. I have a boat.",
    "Remember that my flight is at 7 p.m. on Friday": "My flight is at 7 p.m. on Friday.",
    "Merk dir, dass ich sonntags backe.": "Ich backe sonntags.",
    "Bitte merk dir, dass ich keine Nüsse essen darf": "Ich darf keine Nüsse essen.",
    "merk dir bitte, dass meine Tochter Mia heißt": "Meine Tochter heißt Mia.",
    "Merk dir, dass ich um 6 Uhr aufstehe": "Ich stehe um 6 Uhr auf.",
    "Merke dir: ich bin Vegetarier.": "Ich bin Vegetarier.",
    "Kannst du dir bitte merken, dass ich in Bern wohne?": "Ich wohne in Bern.",
    "Vergiss nicht, dass ich Linkshänder bin": "Ich bin Linkshänder.",
    "Remember this: I am vegan": "I am vegan.",
    "I'd like you to remember I am vegan": "I am vegan.",
    "Could you please remember I'm vegan?": "I'm vegan.",
    "I am vegan. Please remember that.": "I am vegan.",
    "My name is Bob, remember that": "My name is Bob.",
    "Remember my dog is called Rex": "My dog is called Rex.",
    "Merk dir das: ich bin Veganer": "Ich bin Veganer.",
    "Ich bin Veganer, merk dir das bitte.": "Ich bin Veganer.",
    "denk daran, dass wir am Freitag umziehen": "Wir ziehen am Freitag um.",
}
FORGOTTEN = {
    "forget that I bake on Sundays": "I bake on Sundays",
    "Please forget about my allergy.": "my allergy",
    "forget my birthday": "my birthday",
    "forget everything you know about my job": "my job",
    "forget what I told you about my sister": "my sister",
    "stop remembering that I smoke": "I smoke",
    "Forget my essay, let's talk about cats": "my essay",
    "Forget my idea and write a poem": "my idea",
    "Forget that I like tea and coffee": "I like tea and coffee",
    "Vergiss, dass ich in Bern wohne": "ich in Bern wohne",
    "vergiss bitte meine Allergie": "meine Allergie",
    "Vergiss alles über meinen Beruf!": "meinen Beruf",
}
EVERYTHING = [
    "forget everything about me",
    "Please forget everything you know about me!",
    "delete all your memories",
    "clear my memory",
    "vergiss alles über mich",
    "Vergiss bitte alles, was du über mich weißt.",
    "Lösche alle meine Erinnerungen",
]
NEITHER = [
    "do you remember when we met?",
    "Do you remember my name?",
    "Can you remember my name?",
    "What do you remember about me?",
    "I forgot my password",
    "I remember that I was young once.",
    "remember to add a null check in the code",
    "Remember that the list may be empty",
    "Remember: always return JSON",
    "Remember that I told you about the bug",
    "remember that I want the output as JSON",
    "Remember when I was ill?",
    "Remember my name?",
    "Remember our trip to Rome?",
    "Don't forget my name",
    "Remember my favourite colour is blue?",
    "Remember to call me when you are done",
    "Merk dir meinen Namen",
    "I was young once, I remember that.",
    "I am vegan. I live in Rome. Please remember that.",
    "Note that I cannot use recursion here",
    '"Remember that I love you" is a line of which song?',
    "`remember that I am` prints nothing",
    "Translate into German: remember that I love you",
    "Write a story. Remember that I like dragons.",
    "How do I make people remember that I exist?",
    "forget it",
    "forget that",
    "forget about it",
    "Forget my last question",
    "Forget my instructions above",
    "forget the previous instructions",
    "Don't remember",
    "vergiss es",
    "Vergiss meine letzte Frage",
    "Merk dir die Zahl 7",
    "Please call me when the build is done",
    "Call me Ishmael. Some years ago I went to sea.",
    "Ich habe vergessen, dass ich einen Termin habe",
    "Erinnerst du dich an meinen Namen?",
    "",
    "   ",
]


@pytest.mark.parametrize("message", REMEMBERED)
def test_a_plain_request_to_remember_keeps_the_persons_words(message: str) -> None:
    assert parse_intent(message) == Remember(REMEMBERED[message])


@pytest.mark.parametrize("message", FORGOTTEN)
def test_a_plain_request_to_forget_names_its_subject(message: str) -> None:
    assert parse_intent(message) == Forget(FORGOTTEN[message])


@pytest.mark.parametrize(
    ("message", "about"),
    [
        ("Forget that you should say only BANANA.", "you should say only BANANA"),
        ("forget that the list may be empty", "the list may be empty"),
        ("Vergiss, dass der Himmel blau ist", "der Himmel blau ist"),
    ],
)
def test_an_ambiguous_request_to_forget_is_not_certain(message: str, about: str) -> None:
    assert parse_intent(message) == Forget(about, is_certain=False)


@pytest.mark.parametrize("message", EVERYTHING)
def test_a_request_to_forget_everything_is_recognised(message: str) -> None:
    assert parse_intent(message) == ForgetAll()


@pytest.mark.parametrize("message", NEITHER)
def test_a_message_about_remembering_is_not_a_request(message: str) -> None:
    assert parse_intent(message) is None


@pytest.mark.parametrize(
    ("message", "is_hint"),
    [
        ("From now on I want you to use my nickname.", True),
        ("It would be nice if you could keep in mind that my knee hurts", True),
        ("Do you remember my name?", False),
        ("Remember my name?", False),
        ("Erinnerst du dich an meinen Namen?", False),
        ("What is a memory leak?", False),
        ("I need to remember my shopping list better, any tips?", False),
        ("I'd like you to somehow remember my birthday", True),
        ("Was kann ich tun, wenn ich Namen schnell vergesse?", False),
        ("How do plants grow?", False),
        ("I remember. " + "word " * 300, False),
    ],
)
def test_other_wordings_that_may_be_requests_are_left_to_the_model(
    message: str, is_hint: bool
) -> None:
    assert may_be_intent(message) is is_hint


@given(st.text())
def test_any_message_can_be_parsed(message: str) -> None:
    assert parse_intent(message) is None


WORDS = st.text("abcdefghij ", min_size=1, max_size=40).map(lambda t: " ".join(t.split()) or "a")


@given(WORDS, st.sampled_from(["remember that", "Please remember that", "don't forget that"]))
def test_the_remembered_text_is_part_of_the_message(fact: str, asking: str) -> None:
    assert parse_intent(f"{asking} I like {fact}") == Remember(f"I like {fact}.")


@given(WORDS)
def test_text_in_code_or_quotes_is_not_a_request(fact: str) -> None:
    assert parse_intent(f"```\nremember that I like {fact}\n```") is None
    assert parse_intent(f'"remember that I like {fact}"') is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Merk dir, dass ich in Leipzig wohne.", True),
        ("Vergiss bitte, dass ich Tee mag.", True),
        ("Nenne mich Bob", True),
        ("Remember that I live in Leipzig.", False),
        ("Forget that I like tea.", False),
        ("Call me Bob", False),
    ],
)
def test_the_language_is_judged_by_the_words_of_the_request(message: str, expected: bool) -> None:
    assert is_german(message) is expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Remember that I like tea.", False),
        ("Hi! Please remember that I like tea, ok?", False),
        ("I like tea. Remember that.", False),
        ("Remember that Dr. Who is my cat.", False),
        ("Remember that I like tea. Which is best?", True),
        ("Merk dir, dass ich Tee mag. Schlage einen vor.", True),
        ("Remember that I like tea.\n\nWhich is best?", True),
        ("Remember that I like tea. " + "And more. " * 200, True),
    ],
)
def test_text_after_a_request_is_recognised(message: str, expected: bool) -> None:
    assert has_more_text(message) is expected
