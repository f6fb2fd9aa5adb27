"""Tools in few words."""

from hitsend.engine.tool_listing import (
    describe_for_search,
    list_tools,
    read_examples,
    read_parameters,
    reply_name,
)
from hitsend.messages import Tool

TIMER = Tool(
    "set_timer",
    "Starts a timer.",
    '{"type":"object","properties":{"label":{"enum":["tea",3]},"minutes":{"type":"number",'
    '"description":"How long."},"at":{"anyOf":[{"type":"string"}]}},"required":["minutes"]}',
)


def test_a_tool_takes_a_line_and_one_for_each_argument() -> None:
    assert (
        "\nset_timer: Starts a timer.\n"
        "    minutes (number): How long.\n"
        "    label (one of tea, 3, optional)\n"
        '    at ({"anyOf":[{"type":"string"}]}, optional)\n'
        "reply: Answers"
    ) in list_tools([TIMER])


def test_required_arguments_come_first() -> None:
    assert [one.name for one in read_parameters(TIMER)] == ["minutes", "label", "at"]


def test_no_tool_has_the_name_of_the_reply() -> None:
    tools = [Tool(name, "", "{}") for name in ("reply", "answer", "say", "reply_0")]
    assert reply_name(tools) == "reply_1"


def test_a_schema_that_is_none_has_no_arguments() -> None:
    assert read_parameters(Tool("a", "", "3")) == []
    assert read_parameters(Tool("a", "", '{"properties": [1], "required": "x"}')) == []


ROLL = Tool(
    "roll_dice",
    'Rolls a die, or "some dice".\n"Roll two dice." number=2\nAlso: "Throw a die", "dice"',
    "{}",
)


def test_examples_are_what_people_say() -> None:
    assert read_examples(ROLL) == ["some dice", "Roll two dice.", "Throw a die"]
    assert describe_for_search(ROLL) == 'roll dice: Rolls a die, or "some dice".'


def test_the_prompt_shows_the_examples_that_have_arguments() -> None:
    listed = list_tools([ROLL])
    assert '"Roll two dice." number=2' in listed
    assert "Throw" not in listed
