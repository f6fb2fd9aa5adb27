"""The tools of an MCP server: which are on, what they were called for, and what happened."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import NotAllowed
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.tool_servers import answer_with_server, find_host, find_managed, is_admin
from hitsend.wire.responses import Items

Name = Annotated[str, Meta(min_length=1, max_length=128)]


class ToolChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Name
    is_on: bool | None = None
    is_read_only: bool | None = None
    confirmed_digest: Annotated[str, Meta(max_length=64)] | None = None
    """Of the change that the person looked at."""


@endpoint("PATCH", "/backend-api/mcp/servers/{server_id}/tools", Access.SESSION)
async def change_tool(call: Call) -> Response:
    """Turn a tool on or off, confirm its change, or mark it as one that only reads."""
    body = await call.read_body(ToolChange)
    server = await find_managed(call)
    if body.is_read_only is not None and not is_admin(call):
        raise NotAllowed("Only an administrator can say that a tool only reads.")
    await call.app.services.store.mcp_tools.change(
        server.id,
        body.name,
        call.user_id,
        call.actor,
        is_on=body.is_on,
        is_read_only=body.is_read_only,
        confirmed_digest=body.confirmed_digest,
    )
    return await answer_with_server(call, server)


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/calls", Access.SESSION)
async def list_calls(call: Call) -> Response:
    """List recent calls of a server's tools, without arguments and results."""
    store = call.app.services.store.mcp_tools
    return json_response(Items(await store.list_calls(call.path_param("server_id"), call.user_id)))


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/log", Access.SESSION)
async def get_log(call: Call) -> Response:
    """List what happened at a server lately, for whoever manages it."""
    server = await find_managed(call)
    return json_response(Items(find_host(call).connections.log(server.id).lines))
