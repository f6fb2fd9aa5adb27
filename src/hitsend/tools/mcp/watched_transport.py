"""A transport that tells when the server is gone, and cleans listings before the SDK reads them."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import anyio
import mcp_types as types
from mcp.client import Transport
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

ITEM_TEXTS = "name", "uri", "uriTemplate", "title", "description", "mimeType"
LISTED = {
    "resources": ("name", "uri"),
    "resourceTemplates": ("name", "uriTemplate"),
    "prompts": ("name",),
}
"""What is listed besides tools, and what each item needs."""


class WatchedTransport:
    """Keeps of tools what is used here. Schemas of results go before the SDK applies them: an
    expression in one can keep this process busy for hours."""

    def __init__(self, inner: Transport, lost: asyncio.Event) -> None:
        self._inner = inner
        self._lost = lost

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._inner.__aenter__()
        return _WatchedReadStream(read, self._lost), write

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, traceback)


class _WatchedReadStream:
    def __init__(self, inner: Any, lost: asyncio.Event) -> None:
        self._inner = inner
        self._lost = lost

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            received: SessionMessage | Exception = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._lost.set()
            raise
        if isinstance(received, SessionMessage):
            _clean_listing(received.message)
        return received

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> "_WatchedReadStream":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> "_WatchedReadStream":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


def _clean_listing(message: object) -> None:
    """One tool that is described wrongly must not hide the others."""
    result = message.result if isinstance(message, types.JSONRPCResponse) else None
    tools = result.get("tools") if isinstance(result, dict) else None
    if isinstance(result, dict) and isinstance(tools, list):
        result["tools"] = [clean for tool in tools if (clean := _clean_tool(tool)) is not None]
    for name, needed in LISTED.items():
        items = result.get(name) if isinstance(result, dict) else None
        if isinstance(result, dict) and isinstance(items, list):
            result[name] = [_clean_item(one) for one in items if _has_texts(one, needed)]


def _has_texts(item: object, needed: Sequence[str]) -> bool:
    return isinstance(item, dict) and all(isinstance(item.get(key), str) for key in needed)


def _clean_item(item: dict[str, Any]) -> dict[str, Any]:
    """Of a resource or a prompt."""
    kept = {key: item[key] for key in ITEM_TEXTS if isinstance(item.get(key), str)}
    arguments = item.get("arguments")
    if isinstance(arguments, list):
        kept["arguments"] = [
            {"name": one["name"], "required": one.get("required") is True}
            | ({"description": text} if isinstance(text := one.get("description"), str) else {})
            for one in arguments
            if _has_texts(one, ("name",))
        ]
    return kept


def _clean_tool(tool: object) -> dict[str, Any] | None:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return None
    schema = tool.get("inputSchema")
    known = schema if isinstance(schema, dict) else {}
    kept = {"name": tool["name"], "inputSchema": {"type": "object"} | known}
    for key in ("title", "description"):
        if isinstance(tool.get(key), str):
            kept[key] = tool[key]
    if isinstance(hints := tool.get("annotations"), dict):
        kept["annotations"] = {"readOnlyHint": hints.get("readOnlyHint") is True}
    execution = tool.get("execution")
    if isinstance(execution, dict) and execution.get("taskSupport") == "required":
        kept["execution"] = {"taskSupport": "required"}
    return kept
