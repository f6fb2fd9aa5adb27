"""What an MCP tool is: a function of the caller and its arguments, whose types are its schemas."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar, get_type_hints

import msgspec

from hitsend.errors import Refused
from hitsend.server.call import Call
from hitsend.store import KeyScope
from hitsend.wire.body import validation_refusal

A = TypeVar("A", bound="Arguments")
R = TypeVar("R", bound="Result")


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool returns, as fields for programs."""

    def describe(self) -> str:
        """The same as text, for models."""
        raise NotImplementedError


class ToolCall(msgspec.Struct, frozen=True):
    call: Call
    report: Callable[[str], None]
    """Tells the client how far the call is, if it asked to know."""
    idempotency_key: str | None = None


class Hints(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """MCP's annotations: what a host may tell its user, or ask them, before a call."""

    title: str
    read_only_hint: bool
    destructive_hint: bool
    idempotent_hint: bool
    open_world_hint: bool = False


Schema: TypeAlias = Mapping[str, Any]


class McpTool(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    hints: Hints
    input_schema: Schema
    output_schema: Schema
    scopes: frozenset[KeyScope]
    """What a key needs to see and to call it, all of it."""
    is_send: bool
    """Sends have limits of their own; other calls count as open calls of their caller."""
    run: Callable[[ToolCall, Mapping[str, Any]], Awaitable[Result]]
    """Raises HitsendError, whose message the model reads."""


def mcp_tool(
    *scopes: KeyScope,
    title: str,
    is_read_only: bool = True,
    is_destructive: bool = False,
    is_idempotent: bool = True,
    is_send: bool = False,
) -> Callable[[Callable[[ToolCall, A], Awaitable[R]]], McpTool]:
    """Makes a tool of an async function of a `ToolCall` and `Arguments`. Its docstring is the
    description; `Annotated[int, Meta(ge=1, description="…")]` says more of an argument."""

    def make(function: Callable[[ToolCall, A], Awaitable[R]]) -> McpTool:
        name, types = function.__name__, get_type_hints(function)
        takes = types["given"]

        async def run(asked: ToolCall, given: Mapping[str, Any]) -> Result:
            try:
                arguments = msgspec.convert(given, takes)
            except msgspec.ValidationError as error:
                problem = validation_refusal(error)
                raise Refused(f"{name} was called wrongly: {problem.message}") from None
            return await function(asked, arguments)

        return McpTool(
            name=name,
            description=" ".join((inspect.getdoc(function) or "").split()),
            hints=Hints(
                title=title,
                read_only_hint=is_read_only,
                destructive_hint=is_destructive,
                idempotent_hint=is_idempotent,
            ),
            input_schema=_build_schema(takes),
            output_schema=_build_schema(types["return"]),
            scopes=frozenset(scopes),
            is_send=is_send,
            run=run,
        )

    return make


def _build_schema(kind: type[msgspec.Struct]) -> Schema:
    _, definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    schema: dict[str, Any] = definitions.pop(kind.__name__)
    del schema["title"]
    schema.pop("description", None)
    if definitions:
        schema["$defs"] = definitions
    return schema
