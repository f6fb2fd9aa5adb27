"""Builds the requests to OpenAI-compatible servers. Pure: no I/O.

`wire/openai_request.py` is the other side: it parses the requests that our own API receives. A
sampling field that is not set is not sent, so that the server's default applies, and a server that
does not know an uncommon field gets it only if a person set it.
"""

import msgspec

from hitsend.engine.contract import Prompt
from hitsend.engine.message_json import Json, messages_json, tool_json
from hitsend.messages import Sampling


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
        "response_format": _response_format(sampling.json_schema),
    }
    return {name: value for name, value in request.items() if value is not None}


def _response_format(json_schema: str | None) -> Json | None:
    if json_schema is None:
        return None
    schema = msgspec.Raw(json_schema.encode())
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
