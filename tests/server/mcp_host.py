"""An MCP host for tests: the official SDK's client, over real HTTP."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from tests.server.world import PATIENCE_S, UNUSED_TLS

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
MODES = {MODERN: "auto", HANDSHAKE: "legacy"}


@asynccontextmanager
async def connect(url: str, key: str, revision: str = MODERN) -> AsyncGenerator[Client]:
    async with (
        open_http(key) as http,
        Client(
            streamable_http_client(f"{url}/mcp", http_client=http), mode=MODES[revision]
        ) as client,
    ):
        yield client


def open_http(key: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        headers={"authorization": f"Bearer {key}"}, verify=UNUSED_TLS, timeout=PATIENCE_S
    )


def text_of(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


async def use(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Returns the fields of a result that is no error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return cast(dict[str, Any], result.structured_content)


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """Returns the words of a result that is an error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text_of(result)


def modern_request(method: str, params: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The body of a request of the modern revision."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {**(params or {}), "_meta": meta},
    }


def modern_headers(method: str, name: str | None = None) -> dict[str, str]:
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    return headers | ({"mcp-name": name} if name else {})
