"""Describes tools to a small model in a few lines each, and reads their schemas.

A model that is guided (`llama/guided_calls`) needs no format and no JSON Schema in its prompt: its
calls are written under a grammar. The same tools take about half as many tokens as in a template.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from hitsend.messages import Tool

Schema: TypeAlias = Mapping[str, object]

REPLY_NAMES = ("reply", "answer", "say")
HEADING = "\n\n# Tools\n\nThese tools can be called:\n"
REPLY = (
    "{name}: Answers the person in words. For greetings, thanks, advice, explanations, general "
    "knowledge, writing and translating."
)
EXAMPLES = """

To call one, write:
<tool_call>
{{"name": "<tool>", "arguments": {{…}}}}
</tool_call>

Call a tool only if the message asks for something that needs it. To answer in words, from what \
you know, call {name}:
"Hello!" → {{"name": "{name}"}}
"Why do cats purr?" → {{"name": "{name}"}}
"Write a haiku about rain" → {{"name": "{name}"}}
"What is the capital of Peru?" → {{"name": "{name}"}}"""
SHOWN_EXAMPLE, MORE_EXAMPLES = '"', "Also: "
"""The lines of a description that give examples begin so: what somebody says, in quotes. After one
the arguments may follow. More of them, in one line, are only compared with messages."""
QUOTED = re.compile(r'"([^"\n]+)"')
NESTED = ("properties", "items", "anyOf", "oneOf", "allOf", "$ref")


class Parameter(msgspec.Struct, frozen=True):
    name: str
    schema: Schema
    is_required: bool


def reply_name(tools: Collection[Tool]) -> str:
    """The name by which a model chooses to answer in words. No tool has it."""
    names = {tool.name for tool in tools}
    return next(
        name
        for name in (*REPLY_NAMES, *(f"reply_{n}" for n in range(len(names) + 1)))
        if name not in names
    )


def list_tools(tools: Sequence[Tool]) -> str:
    name = reply_name(tools)
    lines = [describe_tool(tool) for tool in tools]
    return "".join(
        (HEADING, "\n".join([*lines, REPLY.format(name=name)]), EXAMPLES.format(name=name))
    )


def describe_tool(tool: Tool) -> str:
    """Returns a line for the tool and one for each argument."""
    return "\n".join(_describe(tool))


def read_parameters(tool: Tool) -> list[Parameter]:
    """Returns the arguments of a tool, the required ones first. A schema that is not an object's
    has none."""
    schema = read_schema(tool)
    required = _as_list(schema.get("required"))
    found = [
        Parameter(name, _as_schema(value), name in required)
        for name, value in _as_schema(schema.get("properties")).items()
    ]
    return sorted(found, key=lambda one: not one.is_required)


def read_schema(tool: Tool) -> Schema:
    try:
        return _as_schema(msgspec.json.decode(tool.parameters))
    except (msgspec.DecodeError, RecursionError):
        return {}


def describe_for_search(tool: Tool) -> str:
    """Returns the text by which a tool is found, without its examples."""
    lines = _lines_without(tool, SHOWN_EXAMPLE, MORE_EXAMPLES)
    return f"{tool.name.replace('_', ' ')}: {lines}"


def read_examples(tool: Tool) -> list[str]:
    """Returns what people say when they want the tool, as its description has it."""
    return [one for one in QUOTED.findall(tool.description) if " " in one.strip()]


def _lines_without(tool: Tool, *beginnings: str) -> str:
    lines = tool.description.splitlines()
    return "\n".join(line for line in lines if not line.startswith(beginnings))


def _describe(tool: Tool) -> Iterator[str]:
    yield f"{tool.name}: {_lines_without(tool, MORE_EXAMPLES)}"
    for one in read_parameters(tool):
        optional = "" if one.is_required else ", optional"
        description = one.schema.get("description")
        about = f": {description}" if isinstance(description, str) else ""
        yield f"    {one.name} ({_describe_type(one.schema)}{optional}){about}"


def _describe_type(schema: Schema) -> str:
    if values := _as_list(schema.get("enum")):
        return "one of " + ", ".join(one if isinstance(one, str) else _json(one) for one in values)
    if any(key in schema for key in NESTED):
        return _json({key: one for key, one in schema.items() if key != "description"})
    kind = schema.get("type")
    return kind if isinstance(kind, str) else "any"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _as_schema(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
