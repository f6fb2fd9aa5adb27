"""Builds the requests to OpenAI-compatible servers. Pure: no I/O.

`wire/openai_request.py` is the other side: it parses the requests that our own API receives. A
sampling field that is not set is not sent, so that the server's default applies, and a server that
does not know an uncommon field gets it only if a person set it.
"""

import msgspec

from hitsend.engine.contract import Prompt
from hitsend.engine.message_json import Json, messages_json, tool_json
from hitsend.messages import ANY_OBJECT, AnswerRules, Sampling


def chat_request(prompt: Prompt, sampling: Sampling) -> Json:
    rules = prompt.rules
    request = {
        "model": prompt.model,
        "messages": messages_json(prompt.messages, for_server=True),
        "stream": True,
        "stream_options": {"include_usage": True},
        **sampling_json(sampling),
    }
    if sampling.json_schema is not None:
        request["response_format"] = _response_format(sampling.json_schema, rules)
    if prompt.tools:
        request["tools"] = [tool_json(tool, for_server=True) for tool in prompt.tools]
        if rules.must_call:
            request["tool_choice"] = "required"
        if not rules.has_parallel_calls:
            request["parallel_tool_calls"] = False
    if rules.reasoning_effort is not None:
        request["reasoning_effort"] = rules.reasoning_effort
    if sampling.top_logprobs:
        request |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
    return request


def sampling_json(sampling: Sampling) -> Json:
    """Returns the fields that chat and completion requests share."""
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
    }
    return {name: value for name, value in request.items() if value is not None}


def _response_format(json_schema: str, rules: AnswerRules) -> Json:
    if json_schema == ANY_OBJECT:
        return {"type": "json_object"}  # known to more servers than schemas are
    return schema_format(json_schema, rules)


def schema_format(json_schema: str, rules: AnswerRules) -> Json:
    named = {
        "name": rules.schema_name or "answer",
        "description": rules.schema_description,
        "strict": rules.is_schema_strict,
        "schema": msgspec.Raw(json_schema.encode()),
    }
    given = {name: value for name, value in named.items() if value is not None}
    return {"type": "json_schema", "json_schema": given}
