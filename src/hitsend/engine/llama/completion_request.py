"""Builds the requests for llama.cpp's `/completion`. Pure: no I/O."""

from typing import TypeVar

import msgspec

from hitsend.engine.contract import Prompt
from hitsend.messages import Bias, Sampling

T = TypeVar("T")


class Defaults(msgspec.Struct, frozen=True):
    """The sampling of a model if the request does not set it."""

    temperature: float = 0.7
    top_p: float = 0.95
    top_k: int = 40
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0


GENERAL = Defaults()
DEFAULTS = {
    "smollm2-135m": Defaults(temperature=0.2, top_p=0.9, repeat_penalty=1.1),
    "qwen2.5-coder-1.5b": Defaults(top_p=0.8, top_k=20, min_p=0.0, repeat_penalty=1.05),
}
"""The makers' recommendations. Other models use GENERAL."""


def default_sampling(model: str) -> Sampling:
    return Sampling(**msgspec.structs.asdict(DEFAULTS.get(model, GENERAL)))


PATTERN = 2
"""The kind of a trigger that is a pattern in the text."""


class _Trigger(msgspec.Struct, frozen=True):
    type: int
    value: str


class _Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """All fields that can be sent: a field that a caller invents cannot reach the engine."""

    prompt: tuple[int, ...]
    n_predict: int
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repeat_penalty: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logit_bias: tuple[tuple[int, float], ...] = ()
    n_probs: int = 0
    json_schema: msgspec.Raw | None = None
    grammar: str | None = None
    grammar_lazy: bool = False
    """The grammar holds from a trigger on."""
    grammar_triggers: tuple[_Trigger, ...] = ()
    cache_prompt: bool | None = None
    stream: bool = False
    return_tokens: bool = False
    return_progress: bool = False
    response_fields: tuple[str, ...] = ()


def completion_request(
    prompt: Prompt,
    sampling: Sampling,
    num_max_tokens: int,
    grammar: str | None = None,
    trigger: str = "",
) -> bytes:
    """At temperature 0 the model's default repeat penalty does not apply, so that the most likely
    token is chosen. The grammar holds from the first token on, or from the text `trigger`; a schema
    takes its place."""
    defaults = DEFAULTS.get(prompt.model, GENERAL)
    temperature = _or_default(sampling.temperature, defaults.temperature)
    repeat_penalty = defaults.repeat_penalty if temperature else 1.0
    schema = sampling.json_schema
    grammar = grammar if schema is None else None
    is_lazy = bool(grammar and trigger)
    request = _Request(
        prompt=prompt.ids,
        n_predict=num_max_tokens,
        temperature=temperature,
        top_p=_or_default(sampling.top_p, defaults.top_p),
        top_k=_or_default(sampling.top_k, defaults.top_k),
        min_p=_or_default(sampling.min_p, defaults.min_p),
        presence_penalty=_or_default(sampling.presence_penalty, defaults.presence_penalty),
        frequency_penalty=_or_default(sampling.frequency_penalty, defaults.frequency_penalty),
        repeat_penalty=_or_default(sampling.repeat_penalty, repeat_penalty),
        seed=sampling.seed,
        stop=sampling.stop or (),
        logit_bias=sampling.logit_bias or (),
        n_probs=sampling.top_logprobs or 0,
        json_schema=None if schema is None else msgspec.Raw(schema.encode()),
        grammar=grammar,
        grammar_lazy=is_lazy,
        grammar_triggers=(_Trigger(PATTERN, trigger),) if is_lazy else (),
        cache_prompt=True,
        stream=True,
        return_tokens=True,
        return_progress=True,
    )
    return msgspec.json.encode(request)


class GuidedRequest(msgspec.Struct, frozen=True):
    """A part of a tool call: its name, or its arguments."""

    ids: tuple[int, ...]
    grammar: str
    num_max_tokens: int
    bias: tuple[Bias, ...] = ()


def guided_request(guided: GuidedRequest) -> bytes:
    """Calls are greedy: a number that was written is copied, not sampled."""
    request = _Request(
        prompt=guided.ids,
        n_predict=guided.num_max_tokens,
        temperature=0.0,
        repeat_penalty=1.0,
        logit_bias=guided.bias,
        n_probs=1,
        grammar=guided.grammar,
        cache_prompt=True,
        stream=True,
        return_tokens=True,
        return_progress=True,
    )
    return msgspec.json.encode(request)


def prefill_request(ids: tuple[int, ...]) -> bytes:
    return msgspec.json.encode(_Request(ids, n_predict=0, cache_prompt=True, stream=True))


def next_token_request(ids: tuple[int, ...], num: int, forced_id: int | None = None) -> bytes:
    """Requests the `num` most likely next tokens. `forced_id` makes the model generate that token,
    to see whether it ends the answer."""
    request = _Request(
        prompt=ids,
        n_predict=1,
        temperature=0.0,
        logit_bias=() if forced_id is None else ((forced_id, 100.0),),
        n_probs=num,
        cache_prompt=True,
        response_fields=("completion_probabilities", "stop_type", "timings"),
    )
    return msgspec.json.encode(request)


def schema_request(json_schema: str, token_id: int) -> bytes:
    """Requests a token that starts no JSON, under the schema: it comes only if the schema is not
    enforced."""
    request = _Request(
        prompt=(token_id,),
        n_predict=1,
        temperature=0.0,
        logit_bias=((token_id, 100.0),),
        json_schema=msgspec.Raw(json_schema.encode()),
        cache_prompt=False,
        return_tokens=True,
    )
    return msgspec.json.encode(request)


def _or_default(value: T | None, default: T) -> T:
    return default if value is None else value
