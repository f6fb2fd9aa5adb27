"""The MCP server's address: reads a message, finds out which revision it speaks, and answers it."""

import asyncio
from collections.abc import Sequence

from msgspec import UNSET
from starlette.responses import Response

from hitsend.server.auth.identify import check_origin
from hitsend.server.call import Access, Call, Endpoint, check_scopes, endpoint, json_response
from hitsend.server.mcp.exchange import Exchange, McpServer, Revision, respond
from hitsend.server.mcp.sessions import check_session, open_session
from hitsend.server.mcp.tool import McpTool
from hitsend.server.mcp.tools import TOOLS
from hitsend.wire.json_rpc import RpcFailure, RpcMessage, decode_message

MCP_PATH = "/mcp"
SESSION = "mcp-session-id"
ACCEPTED = 202
STREAM_TYPES = frozenset({"text/event-stream", "text/*", "*/*"})
JSON_TYPES = frozenset({"application/json", "application/*", "*/*"})


def build_endpoint(tools: Sequence[McpTool]) -> Endpoint:
    served = _ServedTools(tools)

    @endpoint("POST", MCP_PATH, Access.ANY_KEY, is_counted=False)
    async def serve_mcp(call: Call) -> Response:
        """Speak MCP: search conversations, ask a model, use memories."""
        check_origin(call.request)
        message = decode_message(await call.read_json())
        if isinstance(message, RpcFailure):
            return json_response(message, 400)
        server = await served.load_server()
        revision = server.find_revision(message, call.request.headers)
        if isinstance(revision, RpcFailure):
            return json_response(revision, 400)
        session_id = _find_session(call, message, revision)
        if message.id is UNSET:
            _take_notification(call, message, session_id)
            return Response(status_code=ACCEPTED)
        exchange = Exchange(call, message, revision, session_id, served.find(call, message))
        exchange.start(server)
        return await _respond(call, exchange)

    return serve_mcp


class _ServedTools:
    def __init__(self, tools: Sequence[McpTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._server: McpServer | None = None

    async def load_server(self) -> McpServer:
        """The first call imports the SDK, which takes a second of a thread."""
        if self._server is None:
            self._server = await asyncio.to_thread(self._build_server)
        return self._server

    def _build_server(self) -> McpServer:
        from hitsend.server.mcp.sdk import SdkServer

        return SdkServer(self._tools)

    def find(self, call: Call, message: RpcMessage) -> McpTool | None:
        """Returns the tool that is called, if one is. Raises ScopeMissing."""
        name = message.params.get("name") if message.method == "tools/call" else None
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is not None:
            check_scopes(tool.scopes, call.identity)
        return tool


async def _respond(call: Call, exchange: Exchange) -> Response:
    accepted = _accepted_types(call)
    has_sse = not accepted.isdisjoint(STREAM_TYPES)
    has_json = not has_sse or not accepted.isdisjoint(JSON_TYPES)
    response = await respond(exchange, has_json=has_json, has_sse=has_sse)
    if exchange.message.method == "initialize" and not exchange.revision.is_modern:
        response.headers[SESSION] = open_session(call.app.secret, call.identity)
    return response


def _find_session(call: Call, message: RpcMessage, revision: Revision) -> str | None:
    token = call.request.headers.get(SESSION)
    if token is None or revision.is_modern or message.method == "initialize":
        return None
    return check_session(call.app.secret, call.identity, token)


def _take_notification(call: Call, message: RpcMessage, session_id: str | None) -> None:
    """Clients of the modern revision cancel by leaving, and the other notifications only tell."""
    if message.method != "notifications/cancelled" or session_id is None:
        return
    match message.params.get("requestId"):
        case str() | int() as request_id:
            call.app.mcp_requests.cancel(session_id, request_id)


def _accepted_types(call: Call) -> set[str]:
    accepted = call.request.headers.get("accept", "*/*").lower()
    return {one.partition(";")[0].strip() for one in accepted.split(",")}


serve_mcp = build_endpoint(TOOLS)
