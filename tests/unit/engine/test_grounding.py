"""Arguments come from the conversation: what nobody said is invented."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.grounding import Said, drop_copied, is_grounded
from hitsend.messages import Tool


def tool(*required: str, **properties: dict[str, object]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool("t", "Lists things, such as Reykjavik.", json.dumps(schema))


TEXT: dict[str, object] = {"type": "string"}
NOTE = tool("text", text=TEXT, label=TEXT | {"description": "For example *.pdf."})


def is_said(argument: object, *said: str) -> bool:
    return is_grounded(NOTE, {"text": argument}, Said(said))


@given(st.text(min_size=1), st.text(), st.text())
def test_what_was_said_is_grounded(before: str, said: str, after: str) -> None:
    assert is_said(said, f"{before} {said} {after}")


@pytest.mark.parametrize("argument", ["2026-12-16", "https://made.up/4", 17, 1.5, "7 eggs"])
def test_a_number_that_nobody_said_is_invented(argument: object) -> None:
    assert not is_said(argument, "6 weeks after 2026-12-10, and eggs")


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (12500, "Convert 12,500 yen"),
        (222.0, "It is 222."),
        ("2027-05-24", "on 24 May"),
        ("18:30", "at 6:30 pm"),
        ("09:30", "at 9:30"),
        ("EUR", "in euros"),
        ("Munchen", "Wetter in München"),
        ("the paintings", "which paint"),
    ],
)
def test_other_ways_to_write_what_was_said_are_grounded(argument: object, said: str) -> None:
    assert is_said(argument, said)


def test_most_words_have_to_be_said() -> None:
    assert not is_said("I chose the Starry Night by Vincent", "Which paint did I choose?")
    assert is_said("I live near Rome with cats, today", "I live near Rome with cats")


def test_results_of_tools_were_said_too() -> None:
    assert is_said("2027-03-01", "When?", "Result: Monday, 1 March 2027")


def test_programs_are_composed() -> None:
    assert is_said("print(9)\n" * 60, "Run something")


def test_optional_arguments_are_not_compared() -> None:
    assert is_grounded(NOTE, {"text": "eggs", "label": "Breakfast 9"}, Said(["eggs"]))


def test_examples_from_the_description_are_left_out() -> None:
    given_ = {"text": "*.pdf", "label": "*.pdf"}
    assert drop_copied(NOTE, given_, Said(["List them"])) == {"text": "*.pdf"}
    assert drop_copied(NOTE, given_, Said(["List all *.PDF"])) == given_


def test_empty_optional_arguments_are_left_out() -> None:
    assert drop_copied(NOTE, {"text": "", "label": ""}, Said([])) == {"text": ""}


def test_an_example_of_the_description_is_invented_even_if_its_number_was_said() -> None:
    dates = Tool("calculate_date", "For example: 3 May.", NOTE.parameters)
    assert not is_grounded(dates, {"text": "3 May"}, Said(["Calculate 3 ^ 9"]))
    assert is_grounded(dates, {"text": "3 May"}, Said(["Which day is 3 May?"]))
