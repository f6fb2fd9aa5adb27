"""Prompts and sampling in the shape OpenAI-compatible servers read. Pure: no I/O.

A setting nobody gave is not sent, so the server's own default holds, and a server that does
not know the less common ones only hears of them when somebody asked.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from hitsend.engine.contract import Prompt
from hitsend.messages import Message, Role, Sampling, Text, Tool, ToolCall, ToolResult

Json: TypeAlias = dict[str, object]

ROLES: dict[Role, str] = {"developer": "system"}
"""Roles by another name: most servers only know the four old ones."""


def chat_request(prompt: Prompt, sampling: Sampling) -> Json:
    request = {
        "model": prompt.model,
        "messages": messages_json(prompt.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        **sampling_json(sampling),
    }
    if prompt.tools:
        request["tools"] = [tool_json(tool) for tool in prompt.tools]
    if sampling.top_logprobs:
        request |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
    return request


def sampling_json(sampling: Sampling) -> Json:
    """What chat and completion requests have in common."""
    request: Json = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "repetition_penalty": sampling.repeat_penalty,
        "seed": sampling.seed,
        "max_tokens": sampling.max_tokens,
        "stop": sampling.stop or None,
        "logit_bias": {str(token_id): bias for token_id, bias in sampling.logit_bias or ()} or None,
        "response_format": _response_format(sampling.json_schema),
    }
    return {name: value for name, value in request.items() if value is not None}


def _response_format(json_schema: str | None) -> Json | None:
    if json_schema is None:
        return None
    schema = msgspec.Raw(json_schema.encode())
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def tool_json(tool: Tool) -> Json:
    parameters = msgspec.Raw(tool.parameters.encode())
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def messages_json(messages: Sequence[Message]) -> list[Json]:
    return [written for message in messages for written in _message_json(message)]


def _message_json(message: Message) -> Iterator[Json]:
    """One message of ours may be several of theirs: each result of a tool stands alone."""
    calls = [_call_json(part) for part in message.parts if isinstance(part, ToolCall)]
    if any(isinstance(part, Text) for part in message.parts) or calls:
        written: Json = {"role": ROLES.get(message.role, message.role), "content": message.text}
        yield written | {"tool_calls": calls} if calls else written
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield {"role": "tool", "tool_call_id": part.call_id, "content": part.output}


def _call_json(call: ToolCall) -> Json:
    function = {"name": call.tool, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}
