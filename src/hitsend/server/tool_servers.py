"""What the routes of MCP servers share: to find one for the caller, and to describe it."""

from starlette.responses import Response

from hitsend.errors import NotFound
from hitsend.server.call import Call, json_response
from hitsend.store.mcp_rows import McpServer, McpTool
from hitsend.tools.mcp import McpHost, ServerSecrets
from hitsend.tools.mcp.definitions import full_name
from hitsend.wire.responses import McpServerItem, McpStatus, McpToolItem


def is_admin(call: Call) -> bool:
    return call.identity.user.role == "admin"


def find_host(call: Call) -> McpHost:
    if call.app.mcp is None:
        raise NotFound("Tools are turned off here.")
    return call.app.mcp


async def answer_with_server(call: Call, server: McpServer, status: int = 200) -> Response:
    store = call.app.services.store
    item = build_item(
        call,
        server,
        list(await store.mcp_tools.list(server.id)),
        may_use=server.id in await store.mcp_servers.usable_ids(call.user_id),
        is_signed_in=server.id in await store.mcp_sign_ins.signed_in_ids(call.user_id),
    )
    return json_response(item, status)


def build_item(
    call: Call, server: McpServer, tools: list[McpTool], *, may_use: bool, is_signed_in: bool
) -> McpServerItem:
    host, caller_is_admin = find_host(call), is_admin(call)
    may_manage = server.owner_id == call.user_id or (server.owner_id is None and caller_is_admin)
    secrets = ServerSecrets()
    if may_manage:
        secrets = host.secrets.read_known(server)
    status = host.connections.status(server, call.user_id)
    items = [_toolbuild_item(server, one) for one in tools if may_manage or one.is_usable]
    return McpServerItem(
        id=server.id,
        title=server.title,
        kind=server.kind,
        audience=server.audience,
        group_ids=server.group_ids,
        feature=host.feature(server),
        url=server.url if may_manage else "",
        command=server.command if may_manage else (),
        environment=sorted(secrets.environment),
        headers=sorted(secrets.headers),
        client_id=secrets.client_id,
        is_on=server.is_on,
        timeout_s=server.timeout_s,
        may_use=may_use,
        may_manage=may_manage,
        can_mark_read_only=may_manage and caller_is_admin,
        is_signed_in=is_signed_in,
        status=McpStatus(
            condition=status.condition,
            problem=status.problem,
            retry_in_s=status.retry_in_s,
            version=status.version,
        ),
        tools=items,
        num_tokens=sum(_count_chars(one) for one in tools if one.is_usable) // 4,
    )


def _toolbuild_item(server: McpServer, tool: McpTool) -> McpToolItem:
    draft = tool.draft
    return McpToolItem(
        name=tool.name,
        full_name=full_name(server.prefix, tool.name),
        title=tool.title,
        description=tool.description,
        schema=tool.schema,
        is_on=tool.is_on,
        is_usable=tool.is_usable,
        is_new=tool.is_new,
        is_missing=tool.is_missing,
        is_read_only=tool.is_read_only,
        is_read_only_hint=tool.is_read_only_hint,
        problem=tool.problem,
        changed_description=draft.description if draft else None,
        changed_schema=draft.schema if draft else None,
        changed_problem=draft.problem if draft else "",
        changed_digest=draft.digest if draft else None,
    )


def _count_chars(tool: McpTool) -> int:
    return len(tool.name) + len(tool.description) + len(tool.schema)


async def find_seen(call: Call) -> McpServer:
    """Finds one that the caller may use, or that an administrator manages for others."""
    store = call.app.services.store.mcp_servers
    return await store.find_seen(call.path_param("server_id"), call.user_id)


async def find_in_use(call: Call) -> McpServer:
    """Finds one that the caller may use and that is on."""
    store = call.app.services.store.mcp_servers
    server = await store.find_usable(call.path_param("server_id"), call.user_id)
    if not server.is_on:
        raise NotFound("This server is turned off.", param="server_id")
    return server


async def find_managed(call: Call) -> McpServer:
    store = call.app.services.store.mcp_servers
    return await store.find_managed(call.path_param("server_id"), call.user_id)
