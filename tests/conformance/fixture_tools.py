"""Tools that the conformance suite calls by name, each by the suite's description of it. They are
served beside hitsend's own, because the suite cannot know the arguments of those."""

from msgspec.structs import replace

from hitsend.errors import Refused
from hitsend.server.mcp.tool import Arguments, McpTool, Result, ToolCall, mcp_tool

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class NoArguments(Arguments, frozen=True, kw_only=True):
    pass


class Words(Result, frozen=True, kw_only=True):
    words: str

    def describe(self) -> str:
        return self.words


@mcp_tool(title="Simple text")
async def test_simple_text(asked: ToolCall, given: NoArguments) -> Words:
    """Returns text."""
    return Words(words="This is a simple text response for testing.")


class Name(Arguments, frozen=True, kw_only=True):
    name: str


@mcp_tool(title="Greeting")
async def greet(asked: ToolCall, given: Name) -> Words:
    """Greets somebody at once."""
    return Words(words=f"Hello, {given.name}!")


@mcp_tool(title="Error")
async def test_error_handling(asked: ToolCall, given: NoArguments) -> Words:
    """Fails."""
    raise Refused("This tool intentionally returns an error for testing")


@mcp_tool(title="Progress")
async def test_tool_with_progress(asked: ToolCall, given: NoArguments) -> Words:
    """Reports progress three times."""
    for step in ("begun", "half done", "done"):
        asked.report(step)
    return Words(words="Done.")


FIXTURE_TOOLS: tuple[McpTool, ...] = (
    test_simple_text,
    greet,
    test_error_handling,
    test_tool_with_progress,
    replace(test_simple_text, name="test_logging_tool"),  # hitsend's tools log nothing to clients
    replace(test_simple_text, name="json_schema_2020_12_tool", input_schema=SCHEMA),
)
