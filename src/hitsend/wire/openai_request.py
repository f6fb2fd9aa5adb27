"""Parses the body of POST /v1/chat/completions into a Send.

Fields that hitsend does not know are ignored, because SDKs send them; known ones are checked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeAlias, assert_never

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hitsend.canonical import canonicalize
from hitsend.errors import Refused
from hitsend.messages import (
    ANY_OBJECT,
    FREE,
    AnswerRules,
    Message,
    Part,
    Policy,
    ReasoningEffort,
    Sampling,
    Source,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from hitsend.send import Send
from hitsend.wire.body import validation_refusal
from hitsend.wire.openai_response import FunctionCall
from hitsend.wire.send import Feature

Name: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class ContentPart(msgspec.Struct, frozen=True):
    type: str
    text: str | None = None


Content: TypeAlias = str | tuple[ContentPart, ...]


class SystemMessage(msgspec.Struct, frozen=True, tag_field="role", tag="system"):
    content: Content


class DeveloperMessage(msgspec.Struct, frozen=True, tag_field="role", tag="developer"):
    content: Content


class UserMessage(msgspec.Struct, frozen=True, tag_field="role", tag="user"):
    content: Content


class AssistantMessage(msgspec.Struct, frozen=True, tag_field="role", tag="assistant"):
    content: Content | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[FunctionCall, ...] | None = None


class ToolMessage(msgspec.Struct, frozen=True, tag_field="role", tag="tool"):
    content: Content
    tool_call_id: str


RequestMessage: TypeAlias = (
    SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage
)


class StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool | None = None


class TextFormat(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    pass


class ObjectFormat(msgspec.Struct, frozen=True, tag_field="type", tag="json_object"):
    pass


class NamedSchema(msgspec.Struct, frozen=True):
    name: Name
    description: str | None = None
    schema: dict[str, Any] = {}
    strict: bool | None = None


class SchemaFormat(msgspec.Struct, frozen=True, tag_field="type", tag="json_schema"):
    json_schema: NamedSchema


class FunctionTool(msgspec.Struct, frozen=True):
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class RequestTool(msgspec.Struct, frozen=True, tag_field="type", tag="function"):
    function: FunctionTool


class ChosenFunction(msgspec.Struct, frozen=True):
    name: str


class ChosenTool(msgspec.Struct, frozen=True, tag_field="type", tag="function"):
    function: ChosenFunction


class Decoding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """hitsend's extension: the search policy. See docs/decoding.md."""

    policy: Policy
    num_beams: int | None = None


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    messages: Annotated[tuple[RequestMessage, ...], Meta(min_length=1, max_length=2000)]
    n: int | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repeat_penalty: float | None = None
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | tuple[str, ...] | None = None
    logit_bias: dict[str, float] | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    response_format: TextFormat | ObjectFormat | SchemaFormat | None = None
    tools: Annotated[tuple[RequestTool, ...], Meta(max_length=128)] | None = None
    tool_choice: Literal["none", "auto", "required"] | ChosenTool | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: ReasoningEffort | None = None
    modalities: tuple[str, ...] | None = None
    functions: object = None
    function_call: object = None
    decoding: Decoding | None = None
    system_hints: Annotated[tuple[Feature, ...], Meta(max_length=32)] | None = None
    """hitsend's extension: features whose tools hitsend runs. See docs/openai.md."""


@contextmanager
def name_given_field(request: CompletionRequest) -> Iterator[None]:
    """Names the field in an error as the caller wrote it: one of ours has two names in OpenAI's."""
    try:
        yield
    except Refused as error:
        if error.param == "max_tokens" and request.max_completion_tokens is not None:
            error.param = "max_completion_tokens"
        raise


class ParsedCompletion(msgspec.Struct, frozen=True, kw_only=True):
    """A Send, and how to encode its answer."""

    send: Send
    is_streamed: bool
    include_usage: bool
    num_logprobs: int | None
    """Number of alternatives per token; None shows no probabilities."""


def parse_completion(
    request: CompletionRequest, user_id: str, key: str | None = None
) -> ParsedCompletion:
    """`key` is the caller's idempotency key."""
    _check_supported(request)
    options = request.stream_options or StreamOptions()
    return ParsedCompletion(
        send=Send(
            user_id=user_id,
            model=request.model,
            sampling=_parse_sampling(request),
            given=_parse_messages(request.messages),
            tools=_parse_tools(request),
            features=tuple(dict.fromkeys(request.system_hints or ())) or UNSET,
            must_call=request.tool_choice not in (None, "none", "auto"),
            own_rules=_parse_rules(request),
            key=None if key is None else f"api:{key}",
        ),
        is_streamed=bool(request.stream),
        include_usage=bool(options.include_usage),
        num_logprobs=(request.top_logprobs or 0) if request.logprobs else None,
    )


def _check_supported(request: CompletionRequest) -> None:
    """Refuses well-formed requests for features that do not exist here."""
    if request.n not in (None, 1):
        raise Refused("One answer at a time: n has to be 1.", param="n")
    if request.functions is not None or request.function_call is not None:
        raise Refused("`functions` has been replaced by `tools`.", param="functions")
    if request.modalities not in (None, ("text",)):
        raise Refused("Models here return only text.", param="modalities")
    if request.stream_options and not request.stream:
        raise Refused("stream_options needs `stream` to be true.", param="stream_options")
    if request.top_logprobs is not None and not request.logprobs:
        raise Refused("top_logprobs needs `logprobs` to be true.", param="top_logprobs")


def _parse_messages(given: tuple[RequestMessage, ...]) -> tuple[Message, ...]:
    last = max((i for i, one in enumerate(given) if isinstance(one, UserMessage)), default=-1)
    return tuple(
        _parse_message(one, f"messages[{i}]", is_question=i == last) for i, one in enumerate(given)
    )


def _parse_message(given: RequestMessage, param: str, is_question: bool) -> Message:
    """Makes the text of users and tools canonical: it comes from anywhere. The caller's own
    instructions and earlier answers stay byte for byte."""
    match given:
        case SystemMessage(content=content):
            return Message("system", (_parse_text(content, param),), "system")
        case DeveloperMessage(content=content):
            return Message("developer", (_parse_text(content, param),), "developer")
        case UserMessage(content=content):
            source: Source = "user" if is_question else "history"
            return Message("user", (Text(canonicalize(_parse_text(content, param).text)),), source)
        case AssistantMessage():
            thought = given.reasoning_content or UNSET
            return Message("assistant", _parse_answer(given, param), "history", thought)
        case ToolMessage(content=content, tool_call_id=call_id):
            result = ToolResult(call_id, canonicalize(_parse_text(content, param).text))
            return Message("tool", (result,), "tool")
        case _:
            assert_never(given)


def _parse_answer(given: AssistantMessage, param: str) -> tuple[Part, ...]:
    text = () if given.content is None else (_parse_text(given.content, param),)
    calls = (
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in given.tool_calls or ()
    )
    parts = (*text, *calls)
    if not parts:
        raise Refused("An assistant message needs content or tool_calls.", param=param)
    return parts


def _parse_text(content: Content, param: str) -> Text:
    if isinstance(content, str):
        return Text(content)
    texts = [_parse_part(part, f"{param}.content[{i}]") for i, part in enumerate(content)]
    return Text("\n".join(texts))


def _parse_part(part: ContentPart, param: str) -> str:
    if part.type != "text" or part.text is None:
        raise Refused(f"Only text can be read here, not {part.type!r}.", param=param)
    return part.text


def _parse_tools(request: CompletionRequest) -> tuple[Tool, ...]:
    """Returns the tools the model may call: none, all, or the chosen one."""
    tools = tuple(_parse_tool(given.function) for given in request.tools or ())
    if len({tool.name for tool in tools}) < len(tools):
        raise Refused("Two tools have the same name.", param="tools")
    match request.tool_choice:
        case "none":
            return ()
        case ChosenTool(function=chosen):
            tools = tuple(tool for tool in tools if tool.name == chosen.name)
            if not tools:
                raise Refused(f"There is no tool {chosen.name!r}.", param="tool_choice")
        case "required" if not tools:
            raise Refused("There are no tools to call.", param="tool_choice")
    return tools


def _parse_tool(given: FunctionTool) -> Tool:
    parameters = given.parameters or {"type": "object", "properties": {}}
    is_strict = given.strict or UNSET
    return Tool(given.name, given.description or "", _encode_json(parameters), is_strict)


def _parse_rules(request: CompletionRequest) -> AnswerRules | UnsetType:
    wanted = request.response_format
    schema = wanted.json_schema if isinstance(wanted, SchemaFormat) else None
    rules = AnswerRules(
        has_parallel_calls=request.parallel_tool_calls is not False,
        schema_name=schema.name if schema else None,
        schema_description=schema.description if schema else None,
        is_schema_strict=schema.strict if schema else None,
        reasoning_effort=request.reasoning_effort,
    )
    return UNSET if rules == FREE else rules


def _parse_sampling(request: CompletionRequest) -> Sampling:
    given = {name: getattr(request, name) for name in SAME_NAME_FIELDS}
    if request.seed is not None:
        given["seed"] = request.seed % (2**32 - 1)  # OpenAI's seeds are longer than engines'
    if request.max_completion_tokens is not None:
        given["max_tokens"] = request.max_completion_tokens
    if request.stop is not None:
        given["stop"] = [request.stop] if isinstance(request.stop, str) else request.stop
    if request.logprobs:
        # At least 1: engines record probabilities only when alternatives are requested.
        given["top_logprobs"] = max(1, request.top_logprobs or 0)
    if request.logit_bias is not None:
        given["logit_bias"] = [_parse_bias(*item) for item in request.logit_bias.items()]
    given["json_schema"] = _parse_schema(request.response_format)
    given |= _decoding_fields(request.decoding)
    try:
        return msgspec.convert(given, Sampling)
    except msgspec.ValidationError as error:
        raise validation_refusal(error) from None


SAME_NAME_FIELDS = (
    "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty",
    "repeat_penalty", "seed", "max_tokens",
)  # fmt: skip
"""Fields with the same name in Sampling."""


def _decoding_fields(given: Decoding | None) -> dict[str, object]:
    if given is None:
        return {}
    return {"policy": given.policy, "num_beams": given.num_beams}


def _parse_bias(token: str, weight: float) -> tuple[int, float]:
    if not token.isascii() or not token.isdigit() or len(token) > 9:
        raise Refused(f"logit_bias: {token!r} is not a token id.", param="logit_bias")
    return int(token), weight


def _parse_schema(wanted: TextFormat | ObjectFormat | SchemaFormat | None) -> str | None:
    match wanted:
        case ObjectFormat():
            return ANY_OBJECT
        case SchemaFormat(json_schema=named):
            return _encode_json(named.schema)
    return None


def _encode_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
