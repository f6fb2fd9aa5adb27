"""What the official SDK does of the MCP server: revisions, the handshake, and the shapes of
requests and results. HTTP is not its part (`exchange.py`), and neither are credentials and limits.

NOTE: importing this takes a second. Only `endpoint.py` imports it, in a thread.
"""

import logging
from collections.abc import Mapping
from typing import Any, cast

import anyio
import mcp_types as types
import msgspec
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from msgspec import UNSET
from pydantic import ValidationError

from hitsend import __version__
from hitsend.errors import HitsendError
from hitsend.server.mcp.exchange import Exchange, Reply, Revision
from hitsend.server.mcp.tool import McpTool, ToolCall
from hitsend.wire.json_rpc import RpcError, RpcFailure, RpcMessage

log = logging.getLogger(__name__)

BROKEN = "Something broke on our side. It has been logged."
INSTRUCTIONS = (
    "hitsend is the person's own chat server. Search and read their conversations there, ask its "
    "models, and see what it remembers about them. Change memories only if the person asks for it."
)
TOOLS_TTL_MS = 300_000
"""The tools are those of the key's scopes, and change only with hitsend's version."""

Context = ServerRequestContext[Any, Exchange]


class SdkServer:
    def __init__(self, tools: Mapping[str, McpTool]) -> None:
        self._tools = tools
        self._described = {name: _describe(tool) for name, tool in tools.items()}
        self._server = Server[Any](
            "hitsend",
            version=__version__,
            title="hitsend",
            instructions=INSTRUCTIONS,
            cache_hints={
                "tools/list": CacheHint(TOOLS_TTL_MS, "private"),
                "server/discover": CacheHint(TOOLS_TTL_MS, "private"),
            },
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self._server.middleware.clear()  # a span for each request, which nobody reads

    def find_revision(
        self, message: RpcMessage, headers: Mapping[str, str]
    ) -> Revision | RpcFailure:
        """Modern requests say in their body what they speak, and again in their headers."""
        named = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        is_handshake = named is None or named in HANDSHAKE_PROTOCOL_VERSIONS
        if is_handshake and not _has_envelope(message):
            return Revision(named or types.DEFAULT_NEGOTIATED_VERSION, is_modern=False)
        if message.id is UNSET:  # nothing but the header names the revision of a notification
            refused = unsupported_protocol_version_rejection(named or "")
            return _refuse(refused, message) if refused else Revision(named or "", is_modern=True)
        if (repeated := find_duplicated_routing_header(headers.items())) is not None:
            words = f"The header {repeated} was sent more than once."
            return _refuse(InboundLadderRejection(types.HEADER_MISMATCH, words), message)
        body = {"method": message.method, "params": message.params}
        # The HTTP parser leaves the white space after a value, which does not belong to it.
        stripped = {name: value.strip() for name, value in headers.items()}
        found = classify_inbound_request(body, headers=stripped)
        if isinstance(found, InboundLadderRejection):
            return _refuse(found, message)
        return Revision(
            found.protocol_version,
            is_modern=True,
            client_info=found.client_info,
            client_capabilities=found.client_capabilities,
        )

    async def answer(self, exchange: Exchange) -> Reply:
        message, revision = exchange.message, exchange.revision
        connection = Connection.from_envelope(
            revision.version, revision.client_info, revision.client_capabilities
        )
        try:
            result = await serve_one(
                self._server,
                _Dispatch(exchange),
                message.method,
                message.params,
                connection=connection,
                lifespan_state=None,
            )
        except MCPError as error:
            return _fail(exchange, RpcError(error.code, error.message, error.data))
        except ValidationError as error:
            return _fail(exchange, _describe_invalid(error, message))
        except Exception:
            log.exception("the MCP request %s failed", message.method)
            return _fail(exchange, RpcError(types.INTERNAL_ERROR, BROKEN))
        return Reply({"jsonrpc": "2.0", "id": exchange.request_id, "result": result})

    async def _list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Lists what the key's scopes allow."""
        scopes = _exchange_of(context).call.identity.scopes
        allowed = [name for name, tool in self._tools.items() if tool.scopes <= scopes]
        return types.ListToolsResult(tools=[self._described[name] for name in allowed])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        exchange = _exchange_of(context)
        if (tool := self._tools.get(params.name)) is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:100]!r} here.")
        try:
            asked = ToolCall(exchange.call, exchange.report, exchange.read_idempotency_key())
            result = await tool.run(asked, params.arguments or {})
        except HitsendError as error:
            return _failed(error.message)
        except Exception:
            log.exception("the MCP tool %s failed", tool.name)
            return _failed(BROKEN)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result.describe())],
            structured_content=msgspec.to_builtins(result),
        )


class _Dispatch:
    """The SDK's view of a request: it can only be answered, because nothing is asked back."""

    can_send_request = False

    def __init__(self, exchange: Exchange) -> None:
        self.request_id = exchange.request_id
        self.transport = TransportContext(
            kind="streamable-http", can_send_request=False, headers=exchange.call.request.headers
        )
        self.message_metadata = ServerMessageMetadata(request_context=exchange)
        self.cancel_requested = anyio.Event()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Our tools notify through `Exchange.report`."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Our tools notify through `Exchange.report`."""


def _describe(tool: McpTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.hints.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        annotations=types.ToolAnnotations.model_validate(msgspec.to_builtins(tool.hints)),
    )


def _exchange_of(context: Context) -> Exchange:
    return cast(Exchange, context.request)


def _has_envelope(message: RpcMessage) -> bool:
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and types.PROTOCOL_VERSION_META_KEY in meta


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=message)], is_error=True
    )


def _refuse(refused: InboundLadderRejection, message: RpcMessage) -> RpcFailure:
    request_id = None if message.id is UNSET else message.id
    return RpcFailure(RpcError(refused.code, refused.message, refused.data), request_id)


def _fail(exchange: Exchange, error: RpcError) -> Reply:
    """Only the modern revision gives errors a status of their own."""
    is_modern = exchange.revision.is_modern
    status = ERROR_CODE_HTTP_STATUS.get(error.code, 200) if is_modern else 200
    return Reply(RpcFailure(error, exchange.request_id), status)


def _describe_invalid(error: ValidationError, message: RpcMessage) -> RpcError:
    """Names the field only: pydantic's own words are for programmers."""
    path = ".".join(str(one) for one in error.errors(include_url=False)[0]["loc"])
    return RpcError(
        types.INVALID_PARAMS,
        f"The parameters of {message.method} are wrong{f' at {path[:100]}' if path else ''}.",
    )
