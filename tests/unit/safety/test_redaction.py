"""Placeholders for personal data, and back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hitsend.safety import DATA_KINDS, Redaction, find_personal_data, redact, restore

KEY = b"of one person"
VALUES = [
    "4111 1111 1111 1111",
    "4111111111111111",
    "jo@example.org",
    "Jo@Example.org",
    "+49 30 1234567",
    "030 1234567",
    "(212) 555-0147",
    "5551234567",
    "DE89 3704 0044 0532 0130 00",
    "de89370400440532013000",
    "123-45-6789",
    "86095742719",
    "sk-proj-Zk3vQ81bLmN0pRsTuVwXyZ12",
    "https://jo:secret@example.org/",
    "postgres://x:y@",
    "token=a1B2c3D4e5F6g7H8",
    "-----BEGIN PRIVATE KEY-----",
]
WORDS = ["call", "order", "card", "SSN", "Steuer", "tel", "[EMAIL_7F3A]", "[CARD_0000]", "[", "]"]
TEXTS = st.lists(
    st.sampled_from([*VALUES, *WORDS, " ", "-", ".", "@", ":", "1", "\n", "//", "(at)", "é", "\0"])
    | st.text(max_size=4),
    max_size=14,
).map("".join)


@given(TEXTS)
@example("[EMAIL_7F3A] jo@example.org [EMAIL_7F3A]")
@example("card 4111111111111111, 4111 1111 1111 1111, 4111111111111111")
def test_restoring_a_redacted_text_gives_the_text(text: str) -> None:
    redacted = redact(text, DATA_KINDS, KEY)
    assert restore(redacted.text, redacted.redactions) == text


@given(TEXTS)
def test_nothing_is_found_in_a_redacted_text(text: str) -> None:
    once = redact(text, DATA_KINDS, KEY)
    assert find_personal_data(once.text) == []
    assert redact(once.text, DATA_KINDS, KEY).text == once.text


@given(TEXTS)
def test_found_data_is_in_order_and_does_not_overlap(text: str) -> None:
    at = 0
    for one in find_personal_data(text):
        assert at <= one.start < one.end <= len(text)
        at = one.end


@pytest.mark.parametrize(
    "ways",
    [
        ("4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111"),
        ("jo@example.org", "JO@Example.ORG", "jo (at) example (dot) org"),
        ("DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
        ("+49 (0)30 123-4567", "+49 30 1234567", "0049 30 1234567"),
        ("123-45-6789", "SSN 123456789", "SSN 123 45 6789"),
    ],
)
def test_a_value_has_one_placeholder_however_it_is_written(ways: tuple[str, ...]) -> None:
    names = [redact(way, DATA_KINDS, KEY).redactions[0].placeholder for way in ways]
    assert len(set(names)) == 1

    text = "; ".join(ways)
    redacted = redact(text, DATA_KINDS, KEY)
    assert redacted.text.count(names[0]) == len(ways)
    assert restore(redacted.text, redacted.redactions) == text


def test_another_key_gives_other_placeholders() -> None:
    mine = redact("jo@example.org", DATA_KINDS, KEY)
    theirs = redact("jo@example.org", DATA_KINDS, b"of another person")
    assert mine.text != theirs.text


def test_a_placeholder_says_the_kind_and_the_redaction_keeps_the_value() -> None:
    redacted = redact("Mail jo@example.org.", DATA_KINDS, KEY)
    placeholder = redacted.redactions[0].placeholder
    assert redacted.text == f"Mail {placeholder}."
    assert placeholder.startswith("[EMAIL_")
    assert len(placeholder) == len("[EMAIL_7F3A]")
    assert redacted.redactions == (Redaction(placeholder, "email", "jo@example.org"),)


def test_only_the_kinds_that_are_asked_for_are_replaced() -> None:
    redacted = redact("jo@example.org, 4111 1111 1111 1111", ["card"], KEY)
    assert redacted.text.startswith("jo@example.org, [CARD_")


def test_a_placeholder_of_someone_else_is_not_restored() -> None:
    redactions = redact("jo@example.org", DATA_KINDS, KEY).redactions
    assert restore("[EMAIL_0000] and [PHONE_1234]", redactions) == "[EMAIL_0000] and [PHONE_1234]"


def test_values_whose_placeholders_are_the_same_get_longer_ones() -> None:
    """With 1,200 addresses, a few agree in four digits."""
    text = " ".join(f"jo{number}@example.org" for number in range(1200))
    redacted = redact(text, DATA_KINDS, KEY)
    placeholders = redacted.text.split()
    assert len(set(placeholders)) == 1200
    assert max(map(len, placeholders)) > len("[EMAIL_7F3A]")
    assert restore(redacted.text, redacted.redactions) == text


def test_a_placeholder_that_an_earlier_value_has_is_not_given_to_another() -> None:
    (mine,) = redact("jo@example.org", DATA_KINDS, KEY).redactions
    earlier = Redaction(mine.placeholder, "email", "someone.else@example.org")
    (other,) = redact("jo@example.org", DATA_KINDS, KEY, [earlier]).redactions
    assert other.placeholder.startswith(mine.placeholder[:-1])
    assert len(other.placeholder) > len(mine.placeholder)
    again = redact("Jo@example.org", DATA_KINDS, KEY, [earlier, other])
    assert again.text == other.placeholder


def test_a_model_that_repeats_a_placeholder_gets_the_value_each_time() -> None:
    redactions = redact("jo@example.org", DATA_KINDS, KEY).redactions
    name = redactions[0].placeholder
    assert restore(f"{name}? {name}!", redactions) == "jo@example.org? jo@example.org!"
