from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from hitsend.errors import Refused
from hitsend.tools.hosted_tool import Call, CallResult, hosted_tool

CALL = Call(call_id="c1", user_id="u1")


@hosted_tool("arithmetic")
async def add(call: Call, *, a: Annotated[int, Meta(description="One number.")], b: int = 1) -> str:
    """Adds two numbers."""
    return str(a + b)


def test_the_model_is_told_the_name_the_docstring_and_the_parameters() -> None:
    assert (add.name, add.spec.description, add.feature) == (
        "add",
        "Adds two numbers.",
        "arithmetic",
    )
    assert msgspec.json.decode(add.spec.parameters) == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "One number."},
            "b": {"type": "integer", "default": 1},
        },
        "required": ["a"],
        "additionalProperties": False,
    }


async def test_a_call_runs_the_function_with_its_arguments() -> None:
    assert await add.run(CALL, '{"a": 2}') == CallResult("3")


@pytest.mark.parametrize(
    "arguments", ['{"a": "two"}', '{"a": 2, "c": 3}', "{}", "no JSON", "[1]", '{"a": "\ud800"}']
)
async def test_wrong_arguments_are_refused_and_the_message_says_what_is_wrong(
    arguments: str,
) -> None:
    with pytest.raises(Refused, match="add was called wrongly: "):
        await add.run(CALL, arguments)


async def test_types_within_parameters_are_part_of_the_schema() -> None:
    class Point(msgspec.Struct):
        x: float

    async def move(call: Call, *, to: Point) -> str:
        """Moves."""
        return str(to.x)

    move.__annotations__["to"] = Point
    tool = hosted_tool("arithmetic")(move)
    schema = msgspec.json.decode(tool.spec.parameters)
    assert schema["properties"]["to"] == {"$ref": "#/$defs/Point"}
    assert schema["$defs"]["Point"]["properties"] == {"x": {"type": "number"}}
    assert await tool.run(CALL, '{"to": {"x": 1}}') == CallResult("1.0")
