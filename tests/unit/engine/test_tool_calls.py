"""Tool calls are parsed out of a model's text, wherever the stream was cut."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine import ToolCallParser, tool_schema
from hitsend.errors import Refused
from hitsend.messages import Tool, ToolCall

CALL = '{"name": "get_weather", "arguments": {"place": "Köln"}}'
WEATHER = ToolCall("call_0", "get_weather", '{"place": "Köln"}')
WEATHER_1 = ToolCall("call_1", "get_weather", '{"place": "Köln"}')

EXAMPLES = [
    ("Just text.", ["Just text."]),
    ("  spaced  ", ["  spaced  "]),
    (f"<tool_call>\n{CALL}\n</tool_call>", [WEATHER]),
    (f"Let me look.\n<tool_call>{CALL}</tool_call>\n", ["Let me look.", WEATHER]),
    (f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>", [WEATHER, WEATHER_1]),
    (f"<tool_call>{CALL}</tool_call>\n\nDone.", [WEATHER, "Done."]),
    (f"<tool_call>\n{CALL}", [WEATHER]),
    (f"```json\n{CALL}\n```", [WEATHER]),
    (f"Sure:\n\n```json\n{CALL}\n```\nThere.", ["Sure:", WEATHER, "There."]),
    (f"```\n{CALL}\n```", [WEATHER]),
    (f"```json\n{CALL}```", [WEATHER]),
    (CALL, [WEATHER]),
    (f"\n {CALL} \n", [WEATHER]),
    (f"{CALL} is how one calls.", [f"{CALL} is how one calls."]),
    (f"Like {CALL}", [f"Like {CALL}"]),
    ('{"name": "rm", "arguments": {}}', ['{"name": "rm", "arguments": {}}']),
    ('{"name": "get_weather"', ['{"name": "get_weather"']),
    ('{"name": "get_weather"}', [ToolCall("call_0", "get_weather", "{}")]),
    (
        '{"name": "get_weather", "arguments": "{\\"place\\": 1}"}',
        [ToolCall("call_0", "get_weather", '{"place": 1}')],
    ),
    (
        '{"name": "get_weather", "parameters": {"code": "```\\n"}}',
        [ToolCall("call_0", "get_weather", '{"code": "```\\n"}')],
    ),
    ("<tool_call>nothing</tool_call>", ["<tool_call>nothing</tool_call>"]),
    ("a < b and <tool", ["a < b and <tool"]),
    ("```python\nprint(1)\n```\n", ["```python\nprint(1)\n```\n"]),
    ("``` json", ["``` json"]),
    (f"````json\n{CALL}\n````", [f"````json\n{CALL}\n````"]),
    ('```json\n{"a": 1}\n```', ['```json\n{"a": 1}\n```']),
    (f"{{{CALL}}}", [WEATHER]),
    (f"<tool_call>{{{CALL}}}</tool_call>", [WEATHER]),
    (f"{{{CALL}", [f"{{{CALL}"]),
    ("", []),
]


def parse(pieces: list[str]) -> list[str | ToolCall]:
    """Returns the parsed parts, with adjacent texts joined."""
    numbers = itertools.count()
    parser = ToolCallParser(["get_weather", "get_time"], lambda: f"call_{next(numbers)}")
    found = [part for piece in pieces for part in parser.feed(piece)] + parser.finish()
    joined: list[str | ToolCall] = []
    for part in found:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


@pytest.mark.parametrize(("text", "parts"), EXAMPLES)
def test_calls_and_text_are_separated(text: str, parts: list[str | ToolCall]) -> None:
    assert parse([text]) == parts


@pytest.mark.parametrize(("text", "parts"), EXAMPLES)
def test_every_cut_in_two_gives_the_same_parts(text: str, parts: list[str | ToolCall]) -> None:
    for cut in range(len(text) + 1):
        assert parse([text[:cut], text[cut:]]) == parts
    assert parse(list(text)) == parts


FRAGMENTS = st.sampled_from(
    ["<", "<tool_call>", "</tool_call>", "```", "`", "json\n", "\n", " ", "{", "}", CALL, "text"]
)


@given(st.lists(FRAGMENTS, max_size=12), st.data())
def test_the_parts_do_not_depend_on_the_cuts(fragments: list[str], data: st.DataObject) -> None:
    text = "".join(fragments)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    assert parse(pieces) == parse([text])


@given(st.text(max_size=80))
def test_text_without_a_call_is_passed_on_unchanged(text: str) -> None:
    assert "".join(str(part) for part in parse([text])) == text


def test_text_that_cannot_be_a_call_is_not_held_back() -> None:
    parser = ToolCallParser(["get_weather"])
    assert parser.feed("Hello the") == ["Hello the"]
    assert parser.feed('```json\n{"a"') == ["```json\n", '{"a"']
    assert parser.feed("<tool") == []
    assert parser.feed("box>") == ["<", "toolbox>"]


def test_every_call_has_an_id_of_its_own() -> None:
    parser = ToolCallParser(["get_weather"])
    calls = parser.feed(f"<tool_call>{CALL}</tool_call>" * 2)
    assert len({call.call_id for call in calls if isinstance(call, ToolCall)}) == 2


TOOLS = [
    Tool("get_weather", "", '{"type": "object", "properties": {"place": {"$ref": "#/$defs/P"}},'
         ' "$defs": {"P": {"type": "string"}}}'),
    Tool("get_time", "", '{"type": "object"}'),
]  # fmt: skip


def test_a_schema_for_any_tool_offers_each() -> None:
    schema = json.loads(tool_schema(TOOLS, "required"))
    names = [one["properties"]["name"]["const"] for one in schema["anyOf"]]
    assert names == ["get_weather", "get_time"]
    assert schema["$defs"] == {"P": {"type": "string"}}


def test_a_schema_for_one_tool_allows_only_that() -> None:
    schema = json.loads(tool_schema(TOOLS, "get_time"))
    assert schema["properties"]["name"] == {"const": "get_time"}
    assert schema["properties"]["arguments"] == {"type": "object"}
    assert schema["required"] == ["name", "arguments"]


@pytest.mark.parametrize(
    ("tools", "choice"),
    [
        (TOOLS, "get_money"),
        ([Tool("f", "", "[]")], "f"),
        ([Tool("f", "", "{")], "required"),
        ([TOOLS[0], Tool("f", "", '{"$defs": {"P": {"type": "integer"}}}')], "required"),
    ],
)
def test_a_choice_that_cannot_be_made_is_refused(tools: list[Tool], choice: str) -> None:
    with pytest.raises(Refused):
        tool_schema(tools, choice)
