"""What a message weighs for each tool, before the model is asked."""

import json
from collections.abc import Mapping, Sequence

import pytest

from hitsend.engine.tool_weights import (
    FITTED,
    REPLIES,
    Request,
    compared_texts,
    count_requests,
    split_requests,
    weigh,
)
from hitsend.messages import Tool


def tool(name: str, description: str, **properties: object) -> Tool:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool(name, description, json.dumps(schema))


WEATHER = tool("get_weather", 'Tells the weather.\nAlso: "Will it rain in Oslo?"', place={})
MAIL = tool("send_email", "Sends an email.", to={"type": "string"}, body={"type": "string"})
PAGE = tool("read_page", "Reads a page.", url={"type": "string"})
TIMER = tool("set_timer", "Starts a timer.", minutes={"type": "number"})
TOOLS = (WEATHER, MAIL, PAGE, TIMER)


def request(text: str, similar: Mapping[str, float] | None = None) -> Request:
    texts = compared_texts(TOOLS)
    return Request(text, [(similar or {}).get(one, 0.0) for one in texts])


def weights_of(
    whole: Request, parts: Sequence[Request] = (), called: Sequence[str] = (), said: str = ""
) -> dict[str, float]:
    found = weigh(TOOLS, whole, parts or [whole], said or whole.text, called)
    return dict(zip([*(one.name for one in TOOLS), "reply"], found, strict=True))


def test_a_tool_is_compared_by_its_description_and_by_its_examples() -> None:
    assert compared_texts([WEATHER]) == [
        "get weather: Tells the weather.",
        "Will it rain in Oslo?",
        *REPLIES,
    ]


def test_the_closest_example_counts() -> None:
    found = weights_of(request("Rain?", {"Will it rain in Oslo?": 0.5, REPLIES[0]: 0.1}))
    assert found["get_weather"] == pytest.approx(0.5 * (FITTED.whole + FITTED.first))
    assert found["reply"] == pytest.approx(FITTED.reply + 0.1 * FITTED.reply_whole)


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("Summarise https://example.com/a", "read_page"),
        ("Tell ada@example.com the news", "send_email"),
    ],
)
def test_an_address_speaks_for_the_tool_that_needs_one(message: str, tool: str) -> None:
    found = weights_of(request(message))
    assert found.pop(tool) == FITTED.has_address
    assert FITTED.has_address not in found.values()


@pytest.mark.parametrize("tool", ["read_page", "send_email", "set_timer"])
def test_a_tool_is_unlikely_without_what_it_needs(tool: str) -> None:
    assert weights_of(request("Hello"))[tool] == FITTED.lacks


def test_what_was_said_earlier_is_there_too() -> None:
    found = weights_of(request("Set it again"), said="A timer of ten minutes. Set it again")
    assert found["set_timer"] == 0


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("How warm is it?", ["How warm is it?"]),
        ("How warm is it? Mail it to Ann.", ["How warm is it?", "Mail it to Ann."]),
        ("Find my size and remember it", ["Find my size", "remember it"]),
        ("Rome and Oslo", ["Rome and Oslo"]),
        ("", [""]),
    ],
)
def test_a_message_has_a_part_for_each_thing_it_asks_for(message: str, parts: list[str]) -> None:
    assert split_requests(message) == parts


@pytest.mark.parametrize(
    ("message", "num"),
    [
        ("How warm is it in Oslo?", 1),
        ("What time is it in Lima, and how is the weather there?", 2),
        ("How warm is it in Oslo? Mail it to Ann.", 1),
        ("Wake me at 7. Set a timer. Convert that amount.", 2),
    ],
)
def test_what_refers_to_a_result_waits_for_it(message: str, num: int) -> None:
    assert count_requests(message) == num


SUNNY = request("How warm is it?", {"get weather: Tells the weather.": 0.6})
MAILED = request("Mail it to a@b.org", {"send email: Sends an email.": 0.6})
BOTH = request("How warm is it? Mail it to a@b.org", {"send email: Sends an email.": 0.4})


def test_what_is_asked_first_comes_first() -> None:
    found = weights_of(BOTH, [SUNNY, MAILED])
    assert found["get_weather"] > found["send_email"] - FITTED.has_address


def test_a_part_for_which_a_tool_was_called_is_done() -> None:
    found = weights_of(BOTH, [SUNNY, MAILED], ["get_weather"])
    assert max(found, key=found.__getitem__) == "send_email"
    assert found["get_weather"] == 0


def test_a_reply_is_due_when_each_part_is_done() -> None:
    found = weights_of(BOTH, [SUNNY, MAILED], ["get_weather", "send_email"])
    assert found.pop("reply") == FITTED.done
    assert set(found.values()) == {0}


def test_a_call_of_a_tool_that_is_gone_does_no_part() -> None:
    assert weights_of(SUNNY, called=["gone"])["get_weather"] > 0
