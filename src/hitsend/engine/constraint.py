"""Constrains an answer to a JSON value that follows a schema, or to a tool call."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from hitsend.engine.contract import Prompt
from hitsend.errors import Refused
from hitsend.messages import Sampling, Tool


def constrain(sampling: Sampling, prompt: Prompt) -> Sampling:
    """Adds the schema of a tool call where the answer has to be one. Beside tools that may be
    called, an answer's own schema binds what is not a call."""
    if prompt.rules.must_call:
        return replace(sampling, json_schema=tool_schema(prompt.tools))
    if sampling.json_schema is None or not prompt.tools:
        return sampling
    return replace(sampling, json_schema=tool_schema(prompt.tools, sampling.json_schema))


def tool_schema(tools: Sequence[Tool], answer: str | None = None) -> str:
    """Returns the JSON Schema of an answer that is one call of any of the tools, or follows the
    schema `answer`."""
    definitions: dict[str, object] = {}
    options = [_call_schema(tool, definitions) for tool in tools]
    if answer is not None:
        options.append(_part(answer, "The schema of the answer is", "json_schema", definitions))
    schema: dict[str, object] = options[0] if len(options) == 1 else {"anyOf": options}
    if definitions:
        schema = schema | {"$defs": definitions}
    return msgspec.json.encode(schema).decode()


def _call_schema(tool: Tool, definitions: dict[str, object]) -> dict[str, object]:
    what = f"The parameters of the tool {tool.name!r} are"
    return {
        "type": "object",
        "properties": {
            "name": {"const": tool.name},
            "arguments": _part(tool.parameters, what, "tools", definitions),
        },
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _part(text: str, what: str, param: str, definitions: dict[str, object]) -> dict[str, object]:
    """Returns a schema as part of a larger one. References are resolved from the root, so one that
    has any becomes a definition."""
    try:
        schema = msgspec.json.decode(text, type=dict[str, object])
        msgspec.convert(schema.get("$defs", {}), dict[str, object])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Refused(f"{what} not a JSON Schema: {error}.", param=param) from None
    name = f"part_{len(definitions)}"
    moved = _move_references(schema, f"#/$defs/{name}")
    if moved == schema:
        return schema
    definitions[name] = moved
    return {"$ref": f"#/$defs/{name}"}


def _move_references(value: object, root: str) -> object:
    match value:
        case {"$ref": str(target), **rest} if target.startswith("#"):
            moved = {key: _move_references(one, root) for key, one in rest.items()}
            return {"$ref": root + target[1:], **moved}
        case dict():
            return {key: _move_references(one, root) for key, one in value.items()}
        case list():
            return [_move_references(one, root) for one in value]
        case _:
            return value
