"""Forms of tools in the terminal."""

import msgspec
import pytest

from hitsend.cli.chat.form_fields import Field, parse_field, read_fields
from hitsend.cli.chat.questions import parse_verdict
from hitsend.errors import Refused

SCHEMA = {
    "type": "object",
    "properties": {
        "size": {
            "type": "string",
            "title": "Size",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "weight": {"type": "number"},
        "note": {"type": "string", "minLength": 2, "maxLength": 4},
        "is_gift": {"type": "boolean", "default": False},
        "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
    },
    "required": ["size", "count"],
}
TOO_LONG = msgspec.json.encode(
    {"properties": {str(number): {"type": "string"} for number in range(51)}}
).decode()


def fields() -> dict[str, Field]:
    return {one.name: one for one in read_fields(msgspec.json.encode(SCHEMA).decode())}


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("size", "s", "s"),
        ("size", "LARGE", "l"),
        ("count", " 3 ", 3),
        ("weight", "1.5", 1.5),
        ("weight", "", None),
        ("note", "ab", "ab"),
        ("is_gift", "Yes", True),
        ("is_gift", "", False),
        ("colours", "red, Blue", ["red", "blue"]),
    ],
)
def test_what_is_typed_becomes_a_value(name: str, typed: str, value: object) -> None:
    assert parse_field(fields()[name], typed) == value


@pytest.mark.parametrize(
    ("name", "typed", "problem"),
    [
        ("size", "", "has to be filled in"),
        ("size", "huge", "Choose one of: s, l"),
        ("count", "two", "a whole number"),
        ("count", "1.5", "a whole number"),
        ("count", "0", "1 or more"),
        ("count", "10", "9 or less"),
        ("weight", "NaN", "a number"),
        ("note", "a", "at least 2"),
        ("note", "abcde", "at most 4"),
        ("is_gift", "perhaps", "y or n"),
        ("colours", "red, green", "Choose one of: red, blue"),
    ],
)
def test_what_cannot_be_is_told(name: str, typed: str, problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        parse_field(fields()[name], typed)


def test_a_question_names_the_choices() -> None:
    assert fields()["size"].question == "Size [s (Small), l (Large)]: "
    assert fields()["is_gift"].question == "is_gift [y/n], false if left empty: "
    assert fields()["colours"].question == "colours [some of red, blue], may be left empty: "


@pytest.mark.parametrize(
    "schema",
    [
        "no JSON",
        "[" * 100_000,
        '{"properties":{"a":{"type":"object"}}}',
        '{"properties":{"a":{"type":["string"]}}}',
        '{"properties":{"a":{}}}',
        msgspec.json.encode(
            {"properties": {str(n): {"type": "string"} for n in range(51)}}
        ).decode(),
    ],
)
def test_other_forms_are_left_to_the_page(schema: str) -> None:
    with pytest.raises(Refused, match="Open the page"):
        read_fields(schema)


@pytest.mark.parametrize(
    ("typed", "decision", "word"),
    [
        ("o", "once", ""),
        ("Yes", "once", ""),
        ("c", "conversation", ""),
        ("always", "always", ""),
        ("r", "refused", ""),
        ("no, not today", "refused", "not today"),
    ],
)
def test_a_decision_is_a_letter_or_a_word(typed: str, decision: str, word: str) -> None:
    verdict = parse_verdict("c1", typed, can_remember=True)
    assert verdict is not None
    assert (verdict.decision, verdict.word) == (decision, word)


@pytest.mark.parametrize("typed", ["", "maybe", "o but be quick", "yesno"])
def test_anything_else_is_no_decision(typed: str) -> None:
    assert parse_verdict("c1", typed, can_remember=True) is None


@pytest.mark.parametrize("typed", ["c", "always"])
def test_after_text_by_strangers_nothing_is_allowed_for_later(typed: str) -> None:
    assert parse_verdict("c1", typed, can_remember=False) is None
