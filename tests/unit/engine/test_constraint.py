"""An answer that has to be a tool call follows a schema made from the tools."""

import json

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


def test_a_call_of_any_tool_may_be_the_answer() -> None:
    schema = json.loads(schema_for(*TOOLS) or "")
    names = [one["properties"]["name"]["const"] for one in schema["anyOf"]]
    assert names == ["get_weather", "get_time"]
    assert schema["$defs"] == {"P": {"type": "string"}}


def test_a_call_of_the_only_tool_is_the_answer() -> None:
    schema = json.loads(schema_for(TOOLS[1]) or "")
    assert schema["properties"]["name"] == {"const": "get_time"}
    assert schema["properties"]["arguments"] == {"type": "object"}
    assert schema["required"] == ["name", "arguments"]


def test_an_answer_that_need_not_be_a_call_keeps_its_schema() -> None:
    assert schema_for(*TOOLS, must_call=False, schema='{"type": "object"}') == '{"type": "object"}'
    assert schema_for(*TOOLS, must_call=False) is None


@pytest.mark.parametrize(
    "tools",
    [
        [Tool("f", "", "[]")],
        [Tool("f", "", "{")],
        [TOOLS[0], Tool("f", "", '{"$defs": {"P": {"type": "integer"}}}')],
    ],
)
def test_parameters_that_are_no_schema_are_refused(tools: list[Tool]) -> None:
    with pytest.raises(Refused):
        schema_for(*tools)
