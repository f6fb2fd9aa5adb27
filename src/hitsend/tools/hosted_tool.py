"""A hosted tool: a function that hitsend runs when a model calls it. docs/tools.md shows how to
write one."""

import hashlib
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias, get_type_hints

import msgspec

from hitsend.errors import Refused
from hitsend.messages import ChangedMemory, CitedSource, FormAction, Tool

Effect: TypeAlias = Literal["reads", "changes", "writes"]
"""A tool that `changes` does so only here, where the person sees it and can undo it, as a memory.
One that `writes` changes, spends or sends something elsewhere: the person is asked first."""


class FormReply(msgspec.Struct, frozen=True):
    """What a person answered to a question of a tool."""

    action: FormAction
    content: str = "{}"
    """The fields, as JSON."""


async def _no_files() -> Mapping[str, str]:
    return {}


async def _decline(message: str, schema: str) -> FormReply:
    return FormReply("decline")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool knows of the call besides its arguments."""

    call_id: str
    user_id: str
    conversation_id: str = ""
    """Empty for an API call."""
    turn_id: str = ""
    key_id: str | None = None
    """The API key that the person's program uses."""
    has_read_strangers: bool = False
    """Whether the model has read what strangers wrote, which may be what makes it call."""
    written: str = ""
    """What the person wrote in the conversation, as far as the model sees it."""
    time_zone: str = "UTC"
    """The person's, as an IANA name."""
    read_attached_files: Callable[[], Awaitable[Mapping[str, str]]] = _no_files
    """Reads the text files that the person attached in the conversation, by name."""
    report: Callable[[str], None] = lambda _: None
    """Shows text while the tool runs, such as what a program prints."""
    ask: Callable[[str, str], Awaitable[FormReply]] = _decline
    """Asks the person: a message, and the JSON Schema of a flat object. Nobody is there in API
    calls, which decline."""

    @property
    def answer_key(self) -> tuple[str, str]:
        """The person and the answer, by which a tool keeps what it needs from call to call."""
        return self.user_id, self.turn_id or self.call_id


class ToolFile(msgspec.Struct, frozen=True):
    """A file that a tool made, such as a plot."""

    name: str
    media_type: str
    content: bytes


class CallResult(msgspec.Struct, frozen=True):
    output: str
    """What the model reads and the person can open."""
    failed: bool = False
    changed_memories: tuple[ChangedMemory, ...] = ()
    sources: tuple[CitedSource, ...] = ()
    """The pages that the output comes from, if any."""
    files: tuple[ToolFile, ...] = ()


class HostedTool(msgspec.Struct, frozen=True, kw_only=True):
    spec: Tool
    """What the model is told of it."""
    feature: str
    """What people turn on to have the tool, such as `web`."""
    run: Callable[[Call, str], Awaitable[CallResult]]
    """Takes the arguments as JSON. Raises Refused for a wrong call, Unavailable when something it
    needs does not answer: the model reads the message of either."""
    check: Callable[[str], object] = lambda _: None
    """Raises Refused for wrong arguments, before the person is asked to allow the call."""
    effect: Effect = "reads"
    is_untrusted: bool = False
    """Its output was written by strangers, as a web page is."""
    timeout_s: float = 20.0
    server: str = ""
    """The title of the MCP server that has it. Empty for our own."""

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def fingerprint(self) -> str:
        """A hash of what a person agrees to: the tool, its server and its description."""
        agreed = msgspec.json.encode((self.server, self.spec, self.effect))
        return hashlib.sha256(agreed).hexdigest()


def hosted_tool(
    feature: str, *, effect: Effect = "reads", is_untrusted: bool = False, timeout_s: float = 20.0
) -> Callable[[Callable[..., Awaitable[str | CallResult]]], HostedTool]:
    """Makes a tool of an async function. Its docstring is the description, its keyword-only
    parameters are the arguments; `Annotated[int, Meta(ge=1, description="…")]` says more of one."""

    def make(function: Callable[..., Awaitable[str | CallResult]]) -> HostedTool:
        name = function.__name__
        arguments = _arguments_type(function)
        decoder = msgspec.json.Decoder(arguments)

        def decode(encoded: str) -> dict[str, object]:
            try:
                return msgspec.structs.asdict(decoder.decode(encoded))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
                raise Refused(f"{name} was called wrongly: {error}.", param="arguments") from None

        async def run(call: Call, encoded: str) -> CallResult:
            result = await function(call, **decode(encoded))
            return CallResult(result) if isinstance(result, str) else result

        return HostedTool(
            spec=Tool(name, inspect.getdoc(function) or "", _build_schema(arguments)),
            feature=feature,
            run=run,
            check=decode,
            effect=effect,
            is_untrusted=is_untrusted,
            timeout_s=timeout_s,
        )

    return make


def _arguments_type(function: Callable[..., object]) -> type[msgspec.Struct]:
    types = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    fields = [
        (one.name, types[one.name])
        if one.default is one.empty
        else (one.name, types[one.name], one.default)
        for one in parameters
        if one.kind is one.KEYWORD_ONLY
    ]
    name = function.__name__
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def _build_schema(arguments: type[msgspec.Struct]) -> str:
    _, definitions = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    schema = definitions.pop(arguments.__name__)
    del schema["title"]
    if definitions:
        schema["$defs"] = definitions
    return msgspec.json.encode(schema).decode()
