"""An answer that has to be a tool call follows a schema made from the tools."""

import json
from typing import Any

import pytest

from hitsend.engine.constraint import constrain
from hitsend.engine.contract import Prompt
from hitsend.errors import Refused
from hitsend.messages import AnswerRules, Sampling, Tool

TOOLS = (
    Tool("get_weather", "", '{"type": "object", "properties": {"place": {"$ref": "#/$defs/P"}},'
         ' "$defs": {"P": {"type": "string"}}}'),
    Tool("get_time", "", '{"type": "object"}'),
)  # fmt: skip


def schema_for(*tools: Tool, must_call: bool = True, schema: str | None = None) -> str | None:
    rules = AnswerRules(must_call=must_call)
    prompt = Prompt("m", 1, 100, True, (), tools=tools, rules=rules)
    return constrain(Sampling(json_schema=schema), prompt).json_schema


def resolve(schema: dict[str, Any], reference: str) -> object:
    found: Any = schema
    for key in reference.removeprefix("#/").split("/"):
        found = found[key]
    return found


def test_a_call_of_any_tool_may_be_the_answer() -> None:
    schema = json.loads(schema_for(*TOOLS) or "")
    names = [one["properties"]["name"]["const"] for one in schema["anyOf"]]
    assert names == ["get_weather", "get_time"]
    assert resolve(schema, schema["anyOf"][0]["properties"]["arguments"]["$ref"]) == {
        "type": "object",
        "properties": {"place": {"$ref": "#/$defs/part_0/$defs/P"}},
        "$defs": {"P": {"type": "string"}},
    }
    assert resolve(schema, "#/$defs/part_0/$defs/P") == {"type": "string"}


def test_a_call_of_the_only_tool_is_the_answer() -> None:
    schema = json.loads(schema_for(TOOLS[1]) or "")
    assert schema["properties"]["name"] == {"const": "get_time"}
    assert schema["properties"]["arguments"] == {"type": "object"}
    assert schema["required"] == ["name", "arguments"]


def test_an_answer_that_need_not_be_a_call_follows_its_schema_or_is_a_call() -> None:
    answer = {"type": "object", "properties": {"mood": {"type": "string"}}}
    schema = json.loads(schema_for(*TOOLS, must_call=False, schema=json.dumps(answer)) or "")
    *calls, last = schema["anyOf"]
    assert last == answer
    names = [one["properties"]["name"]["const"] for one in calls]
    assert names == ["get_weather", "get_time"]


def test_an_answer_without_tools_keeps_its_schema() -> None:
    assert schema_for(must_call=False, schema='{"type": "object"}') == '{"type": "object"}'
    assert schema_for(*TOOLS, must_call=False) is None


def test_an_answer_that_has_to_be_a_call_is_not_bound_by_the_schema_of_the_text() -> None:
    schema = json.loads(schema_for(TOOLS[1], schema='{"type": "string"}') or "")
    assert schema["properties"]["name"] == {"const": "get_time"}


def test_the_same_name_may_be_defined_differently_and_a_schema_may_contain_itself() -> None:
    answer = {
        "type": "object",
        "properties": {"place": {"$ref": "#/$defs/P"}, "more": {"$ref": "#"}},
        "$defs": {"P": {"type": "integer"}},
    }
    schema = json.loads(schema_for(TOOLS[0], must_call=False, schema=json.dumps(answer)) or "")
    moved: Any = resolve(schema, schema["anyOf"][1]["$ref"])
    assert resolve(schema, moved["properties"]["place"]["$ref"]) == {"type": "integer"}
    assert resolve(schema, moved["properties"]["more"]["$ref"]) == moved
    assert resolve(schema, "#/$defs/part_0/$defs/P") == {"type": "string"}


@pytest.mark.parametrize(
    "tools",
    [
        [Tool("f", "", "[]")],
        [Tool("f", "", "{")],
        [Tool("f", "", '{"$defs": [1]}')],
    ],
)
def test_parameters_that_are_no_schema_are_refused(tools: list[Tool]) -> None:
    with pytest.raises(Refused):
        schema_for(*tools)
