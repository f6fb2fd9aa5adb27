"""Signing in at MCP servers, with OAuth."""

from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.tool_servers import answer_with_server, find_host, find_seen
from hitsend.tools.mcp import Callback
from hitsend.wire.responses import McpSignIn


@endpoint("POST", "/backend-api/mcp/servers/{server_id}/sign-in", Access.SESSION)
async def begin_sign_in(call: Call) -> Response:
    """Begin to sign in at an MCP server. Answers with the address to open."""
    server, host = await find_seen(call), find_host(call)
    if server.kind != "http":
        raise Refused("This server is a program: there is nothing to sign in at.")
    entered = host.secrets.read(server)
    url = await host.sign_ins.begin(server, call.user_id, base_url(call), entered)
    return json_response(McpSignIn(url))


@endpoint("POST", "/backend-api/mcp/sign-in", Access.SESSION)
async def finish_sign_in(call: Call) -> Response:
    """Finish a sign-in, with what the browser was sent back with."""
    body = await call.read_body(Callback)
    host = find_host(call)
    server_id = await host.sign_ins.finish(body, call.user_id, call.actor)
    server = await call.app.services.store.mcp_servers.find_usable(server_id, call.user_id)
    await host.connections.test(server, call.user_id)
    return await answer_with_server(call, server)


@endpoint("DELETE", "/backend-api/mcp/servers/{server_id}/sign-in", Access.SESSION)
async def sign_out(call: Call) -> Response:
    """Forget the caller's sign-in at an MCP server."""
    server, host = await find_seen(call), find_host(call)
    await host.sign_ins.sign_out(server.id, call.user_id, call.actor)
    await host.connections.disconnect(server.id, call.user_id)
    return Response(status_code=NO_CONTENT)


@endpoint("GET", "/oauth/client.json", Access.ANYONE)
async def describe_client(call: Call) -> Response:
    """Describe hitsend to the sign-ins of MCP servers (a client id metadata document)."""
    own = base_url(call)
    document = {
        "client_id": f"{own}/oauth/client.json",
        "client_name": "hitsend",
        "client_uri": own,
        "redirect_uris": [f"{own}/oauth/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    }
    return json_response(document, headers={"cache-control": "public, max-age=3600"})


def base_url(call: Call) -> str:
    """The address under which the caller opened hitsend. Its host was checked."""
    return str(call.request.base_url).rstrip("/")
