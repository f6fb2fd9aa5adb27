"""Messages and tools in OpenAI's JSON, which chat templates and remote servers read."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from hitsend.messages import Message, Role, Text, Tool, ToolCall, ToolResult

Json: TypeAlias = dict[str, object]

ROLES: dict[Role, str] = {"developer": "system"}
"""Roles with another name there: most know only system, user, assistant and tool."""


def tool_json(tool: Tool, *, for_server: bool = False) -> Json:
    """`strict` is for servers: it says nothing to a model."""
    parameters = msgspec.Raw(tool.parameters.encode())
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    strict: Json = {"strict": True} if for_server and tool.is_strict else {}
    return {"type": "function", "function": function | strict}


def messages_json(messages: Sequence[Message], *, for_server: bool = False) -> list[Json]:
    """What a model thought before is for servers: they know whether it may read it again."""
    return [one for message in messages for one in _message_json(message, for_server)]


def _message_json(message: Message, for_server: bool) -> Iterator[Json]:
    """Yields several messages for one of ours if it has tool results: each is its own message."""
    calls = [_call_json(part) for part in message.parts if isinstance(part, ToolCall)]
    if any(isinstance(part, Text) for part in message.parts) or calls:
        content: Json = {"role": ROLES.get(message.role, message.role), "content": message.text}
        if for_server and message.reasoning:
            content["reasoning_content"] = message.reasoning
        yield content | {"tool_calls": calls} if calls else content
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield {"role": "tool", "tool_call_id": part.call_id, "content": part.output}


def _call_json(call: ToolCall) -> Json:
    function = {"name": call.tool, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}
