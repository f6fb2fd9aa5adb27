"""Constrains an answer to a JSON value that follows a schema, or to a tool call."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from hitsend.engine.contract import Prompt
from hitsend.errors import Refused
from hitsend.messages import Sampling, Tool


def constrain(sampling: Sampling, prompt: Prompt) -> Sampling:
    """Adds the schema of a tool call where the answer has to be one."""
    if not prompt.rules.must_call:
        return sampling
    return replace(sampling, json_schema=tool_schema(prompt.tools))


def tool_schema(tools: Sequence[Tool]) -> str:
    """Returns the JSON Schema of an answer that is one call of any of the tools."""
    definitions: dict[str, object] = {}
    calls = [_call_schema(tool, definitions) for tool in tools]
    schema: dict[str, object] = calls[0] if len(calls) == 1 else {"anyOf": calls}
    if definitions:
        schema = schema | {"$defs": definitions}
    return msgspec.json.encode(schema).decode()


def _call_schema(tool: Tool, definitions: dict[str, object]) -> dict[str, object]:
    """Moves the tool's `$defs` to the root, because references are resolved from there."""
    try:
        parameters = msgspec.json.decode(tool.parameters, type=dict[str, object])
        own = msgspec.convert(parameters.pop("$defs", {}), dict[str, object])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Refused(
            f"The parameters of the tool {tool.name!r} are not a JSON Schema: {error}.",
            param="tools",
        ) from None
    if any(definitions.get(name, value) != value for name, value in own.items()):
        raise Refused("Two tools define different things by the same name.", param="tools")
    definitions |= own
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
