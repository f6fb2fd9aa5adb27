"""The body of POST /v1/chat/completions, and what it asks for in our own words.

SDKs send fields we have no use for: those are passed over. What we know is checked.
"""

from typing import Annotated, Any, Literal, TypeAlias, assert_never

import msgspec
from msgspec import Meta

from hitsend.canonical import canonical
from hitsend.errors import Refused
from hitsend.messages import (
    Message,
    Part,
    Policy,
    Sampling,
    Source,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from hitsend.send import Send
from hitsend.wire.body import unfit

Name: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class ContentPart(msgspec.Struct, frozen=True):
    type: str
    text: str | None = None


Content: TypeAlias = str | tuple[ContentPart, ...]


class Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class FunctionCall(msgspec.Struct, frozen=True):
    id: str
    function: Function
    type: Literal["function"] = "function"


class SystemMessage(msgspec.Struct, frozen=True, tag_field="role", tag="system"):
    content: Content


class DeveloperMessage(msgspec.Struct, frozen=True, tag_field="role", tag="developer"):
    content: Content


class UserMessage(msgspec.Struct, frozen=True, tag_field="role", tag="user"):
    content: Content


class AssistantMessage(msgspec.Struct, frozen=True, tag_field="role", tag="assistant"):
    content: Content | None = None
    tool_calls: tuple[FunctionCall, ...] | None = None


class ToolMessage(msgspec.Struct, frozen=True, tag_field="role", tag="tool"):
    content: Content
    tool_call_id: str


GivenMessage: TypeAlias = (
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
    schema: dict[str, Any] = {}


class SchemaFormat(msgspec.Struct, frozen=True, tag_field="type", tag="json_schema"):
    json_schema: NamedSchema


class FunctionTool(msgspec.Struct, frozen=True):
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None


class GivenTool(msgspec.Struct, frozen=True, tag_field="type", tag="function"):
    function: FunctionTool


class ChosenFunction(msgspec.Struct, frozen=True):
    name: str


class ChosenTool(msgspec.Struct, frozen=True, tag_field="type", tag="function"):
    function: ChosenFunction


class Decoding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ours alone: how the answer is looked for. See docs/decoding.md."""

    policy: Policy
    num_beams: int | None = None


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    messages: Annotated[tuple[GivenMessage, ...], Meta(min_length=1, max_length=2000)]
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
    tools: Annotated[tuple[GivenTool, ...], Meta(max_length=128)] | None = None
    tool_choice: Literal["none", "auto", "required"] | ChosenTool | None = None
    modalities: tuple[str, ...] | None = None
    functions: object = None
    function_call: object = None
    decoding: Decoding | None = None


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a completion request comes to: a turn to run, and how to show it."""

    send: Send
    is_streamed: bool
    include_usage: bool
    num_logprobs: int | None
    """How many alternatives to show for each token; None shows no probabilities."""


def parse_completion(request: CompletionRequest, user_id: str, key: str | None = None) -> Asked:
    """`key` is what the caller calls it by, if anything."""
    _check(request)
    options = request.stream_options or StreamOptions()
    return Asked(
        send=Send(
            user_id=user_id,
            model=request.model,
            sampling=_sampling(request),
            given=_messages(request.messages),
            tools=_tools(request),
            must_call=request.tool_choice not in (None, "none", "auto"),
            key=None if key is None else f"api:{key}",
        ),
        is_streamed=bool(request.stream),
        include_usage=bool(options.include_usage),
        num_logprobs=(request.top_logprobs or 0) if request.logprobs else None,
    )


def _check(request: CompletionRequest) -> None:
    """What is well formed but cannot be done."""
    if request.n not in (None, 1):
        raise Refused("One answer at a time: n has to be 1.", param="n")
    if request.functions is not None or request.function_call is not None:
        raise Refused("`functions` has been replaced by `tools`.", param="functions")
    if request.modalities not in (None, ("text",)):
        raise Refused("Only text comes out of the models here.", param="modalities")
    if request.stream_options and not request.stream:
        raise Refused("stream_options needs `stream` to be true.", param="stream_options")
    if request.top_logprobs is not None and not request.logprobs:
        raise Refused("top_logprobs needs `logprobs` to be true.", param="top_logprobs")


def _messages(given: tuple[GivenMessage, ...]) -> tuple[Message, ...]:
    asking = max((i for i, one in enumerate(given) if isinstance(one, UserMessage)), default=-1)
    return tuple(
        _message(one, f"messages[{i}]", is_asking=i == asking) for i, one in enumerate(given)
    )


def _message(given: GivenMessage, place: str, is_asking: bool) -> Message:
    """What people and tools say comes from anywhere, and is made canonical. The caller's own
    instructions, and the answers it brings back, stay to the letter as they were."""
    match given:
        case SystemMessage(content=content):
            return Message("system", (_text(content, place),), "system")
        case DeveloperMessage(content=content):
            return Message("developer", (_text(content, place),), "developer")
        case UserMessage(content=content):
            source: Source = "user" if is_asking else "history"
            return Message("user", (Text(canonical(_text(content, place).text)),), source)
        case AssistantMessage():
            return Message("assistant", _answer(given, place), "history")
        case ToolMessage(content=content, tool_call_id=call_id):
            result = ToolResult(call_id, canonical(_text(content, place).text))
            return Message("tool", (result,), "tool")
        case _:
            assert_never(given)


def _answer(given: AssistantMessage, place: str) -> tuple[Part, ...]:
    text = () if given.content is None else (_text(given.content, place),)
    calls = (
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in given.tool_calls or ()
    )
    parts = (*text, *calls)
    if not parts:
        raise Refused("An assistant message needs content or tool_calls.", param=place)
    return parts


def _text(content: Content, place: str) -> Text:
    if isinstance(content, str):
        return Text(content)
    texts = [_part(part, f"{place}.content[{i}]") for i, part in enumerate(content)]
    return Text("\n".join(texts))


def _part(part: ContentPart, place: str) -> str:
    if part.type != "text" or part.text is None:
        raise Refused(f"Only text can be read here, not {part.type!r}.", param=place)
    return part.text


def _tools(request: CompletionRequest) -> tuple[Tool, ...]:
    """Those the model may call: none, all, or the one that was chosen."""
    tools = tuple(_tool(given.function) for given in request.tools or ())
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


def _tool(given: FunctionTool) -> Tool:
    parameters = given.parameters or {"type": "object", "properties": {}}
    return Tool(given.name, given.description or "", _json(parameters))


def _sampling(request: CompletionRequest) -> Sampling:
    given = {name: getattr(request, name) for name in PLAIN}
    if request.seed is not None:
        given["seed"] = request.seed % (2**32 - 1)  # OpenAI's seeds are longer than engines'
    if request.max_completion_tokens is not None:
        given["max_tokens"] = request.max_completion_tokens
    if request.stop is not None:
        given["stop"] = [request.stop] if isinstance(request.stop, str) else request.stop
    if request.logprobs:
        # Also without alternatives to show: asking for one is what has probabilities recorded.
        given["top_logprobs"] = max(1, request.top_logprobs or 0)
    if request.logit_bias is not None:
        given["logit_bias"] = [_bias(*item) for item in request.logit_bias.items()]
    given["json_schema"] = _schema(request.response_format)
    given |= _decoding(request.decoding)
    try:
        return msgspec.convert(given, Sampling)
    except msgspec.ValidationError as error:
        raise unfit(error) from None


PLAIN = (
    "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty",
    "repeat_penalty", "seed", "max_tokens",
)  # fmt: skip
"""Settings that go by the same name on both sides."""


def _decoding(given: Decoding | None) -> dict[str, object]:
    if given is None:
        return {}
    return {"policy": given.policy, "num_beams": given.num_beams}


def _bias(token: str, weight: float) -> tuple[int, float]:
    if not token.isascii() or not token.isdigit() or len(token) > 9:
        raise Refused(f"logit_bias: {token!r} is not a token id.", param="logit_bias")
    return int(token), weight


def _schema(wanted: TextFormat | ObjectFormat | SchemaFormat | None) -> str | None:
    match wanted:
        case ObjectFormat():
            return '{"type":"object"}'
        case SchemaFormat(json_schema=named):
            return _json(named.schema)
    return None


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
