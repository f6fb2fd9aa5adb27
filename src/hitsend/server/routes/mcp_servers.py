"""MCP servers: list, add, test, change, delete.

A person manages their own servers. Administrators manage those of everyone and of groups, and only
they add programs, after giving their password.
"""

import re
from typing import Annotated
from uuid import uuid4

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from hitsend.errors import NotAllowed, Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.tool_servers import (
    answer_with_server,
    build_item,
    find_host,
    find_managed,
    find_seen,
    is_admin,
)
from hitsend.store.mcp_rows import Audience, McpServer, McpServerChange, McpTool, NewMcpServer
from hitsend.tools.mcp import ServerSecrets
from hitsend.tools.mcp.definitions import clean_line, make_prefix
from hitsend.wire.responses import McpServerList

Title = Annotated[str, Meta(min_length=1, max_length=80)]
Url = Annotated[str, Meta(min_length=1, max_length=2_000)]
Argument = Annotated[str, Meta(max_length=4_000)]
Command = Annotated[tuple[Argument, ...], Meta(min_length=1, max_length=64)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
Value = Annotated[str, Meta(max_length=8_000)]
Values = Annotated[dict[Name, Value], Meta(max_length=64)]
Timeout = Annotated[float, Meta(ge=1, le=600)]
GroupIds = Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(max_length=100)]

HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
OUR_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}
)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class NewServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A server with an address."""

    title: Title
    url: Url
    headers: Values = {}
    """Such as `Authorization`, if it wants a key."""
    client_id: Value = ""
    client_secret: Value = ""
    audience: Audience = "owner"
    group_ids: GroupIds = ()
    timeout_s: Timeout = 60.0


class NewCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A server that is a program on this machine."""

    title: Title
    command: Command
    environment: Values = {}
    audience: Audience = "owner"
    group_ids: GroupIds = ()
    timeout_s: Timeout = 60.0


class ServerChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fields that are left out stay."""

    title: Title | UnsetType = UNSET
    url: Url | UnsetType = UNSET
    headers: Values | UnsetType = UNSET
    """Replaces all."""
    client_id: Value | UnsetType = UNSET
    client_secret: Value | UnsetType = UNSET
    is_on: bool | UnsetType = UNSET
    audience: Audience | UnsetType = UNSET
    group_ids: GroupIds | UnsetType = UNSET
    timeout_s: Timeout | UnsetType = UNSET


class CommandChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: Command
    environment: Values | UnsetType = UNSET


@endpoint("GET", "/backend-api/mcp/servers", Access.SESSION)
async def list_servers(call: Call) -> Response:
    """List the MCP servers that the caller may use or manage, with their tools and their state."""
    store, settings = call.app.services.store, call.app.services.settings
    servers = await store.mcp_servers.list(call.user_id)
    usable = await store.mcp_servers.usable_ids(call.user_id)
    signed_in = await store.mcp_sign_ins.signed_in_ids(call.user_id)
    tools: dict[str, list[McpTool]] = {}
    for tool in await store.mcp_tools.list_seen(call.user_id):
        tools.setdefault(tool.server_id, []).append(tool)
    items = [
        build_item(
            call,
            one,
            tools.get(one.id, []),
            may_use=one.id in usable,
            is_signed_in=one.id in signed_in,
        )
        for one in servers
    ]
    caller_is_admin = is_admin(call)
    return json_response(
        McpServerList(
            items,
            can_add=caller_is_admin or settings.mcp_people,
            can_add_commands=caller_is_admin and settings.mcp_commands,
            can_share=caller_is_admin,
        )
    )


@endpoint("POST", "/backend-api/mcp/servers", Access.SESSION)
async def add_server(call: Call) -> Response:
    """Add an MCP server by its address. It is tested with the next call."""
    body = await call.read_body(NewServer)
    if not (is_admin(call) or call.app.services.settings.mcp_people):
        raise NotAllowed("Only administrators add servers here.")
    find_host(call).addresses.check(body.url)
    secrets = ServerSecrets(
        headers=_check_headers(body.headers),
        client_id=body.client_id,
        client_secret=body.client_secret,
    )
    return await _add(call, body, secrets, url=body.url.strip())


@endpoint("POST", "/backend-api/mcp/commands", Access.CONFIRMED)
async def add_command(call: Call) -> Response:
    """Add an MCP server that is a program. For administrators."""
    body = await call.read_body(NewCommand)
    _require_commands(call)
    secrets = ServerSecrets(environment=_check_environment(body.environment))
    return await _add(call, body, secrets, command=_check_command(body.command))


@endpoint("PATCH", "/backend-api/mcp/servers/{server_id}", Access.SESSION)
async def change_server(call: Call) -> Response:
    """Change an MCP server: title, address, keys, who may use it, on or off."""
    body = await call.read_body(ServerChange)
    server = await find_managed(call)
    if body.url is not UNSET:
        if server.kind != "http":
            raise Refused("This server has no address: it is a program.", param="url")
        find_host(call).addresses.check(body.url)
    if body.audience is not UNSET:
        _check_audience(call, body.audience)
    if body.group_ids is not UNSET and (body.audience or server.audience) != "groups":
        raise Refused("Groups are for servers that groups may use.", param="group_ids")
    change = McpServerChange(
        title=UNSET if body.title is UNSET else _title(body.title),
        url=UNSET if body.url is UNSET else body.url.strip(),
        sealed=_sealed(call, server, body),
        is_on=body.is_on,
        timeout_s=body.timeout_s,
        audience=body.audience,
        group_ids=body.group_ids,
    )
    return await _change(call, server, change)


@endpoint("PUT", "/backend-api/mcp/servers/{server_id}/command", Access.CONFIRMED)
async def change_command(call: Call) -> Response:
    """Change the program of an MCP server. For administrators."""
    body = await call.read_body(CommandChange)
    _require_commands(call)
    server = await find_managed(call)
    if server.kind != "command":
        raise Refused("This server is no program.", param="command")
    sealed: bytes | None | UnsetType = UNSET
    if body.environment is not UNSET:
        secrets = ServerSecrets(environment=_check_environment(body.environment))
        sealed = find_host(call).secrets.seal(server.id, secrets)
    change = McpServerChange(command=_check_command(body.command), sealed=sealed)
    return await _change(call, server, change)


@endpoint("DELETE", "/backend-api/mcp/servers/{server_id}", Access.SESSION)
async def delete_server(call: Call) -> Response:
    """Delete an MCP server with its tools, calls and sign-ins."""
    server_id = call.path_param("server_id")
    await call.app.services.store.mcp_servers.delete(server_id, call.user_id, call.actor)
    await find_host(call).connections.disconnect(server_id)
    return Response(status_code=NO_CONTENT)


@endpoint("POST", "/backend-api/mcp/servers/{server_id}/test", Access.SESSION)
async def test_server(call: Call) -> Response:
    """Connect to an MCP server anew and list its tools."""
    server = await find_seen(call)
    await find_host(call).connections.test(server, call.user_id)
    return await answer_with_server(call, server)


async def _add(
    call: Call,
    body: NewServer | NewCommand,
    secrets: ServerSecrets,
    *,
    url: str = "",
    command: tuple[str, ...] = (),
) -> Response:
    _check_audience(call, body.audience)
    if body.group_ids and body.audience != "groups":
        raise Refused("Groups are for servers that groups may use.", param="group_ids")
    server_id, title = str(uuid4()), _title(body.title)
    new = NewMcpServer(
        id=server_id,
        owner_id=call.user_id if body.audience == "owner" else None,
        audience=body.audience,
        title=title,
        prefix=make_prefix(title),
        kind="command" if command else "http",
        command=command,
        url=url,
        sealed=find_host(call).secrets.seal(server_id, secrets),
        timeout_s=body.timeout_s,
        group_ids=body.group_ids,
    )
    server = await call.app.services.store.mcp_servers.add(new, call.actor)
    return await answer_with_server(call, server, 201)


async def _change(call: Call, server: McpServer, change: McpServerChange) -> Response:
    changed = await call.app.services.store.mcp_servers.change(
        server.id, call.user_id, change, call.actor
    )
    await find_host(call).connections.disconnect(server.id)
    return await answer_with_server(call, changed)


def _sealed(call: Call, server: McpServer, body: ServerChange) -> bytes | None | UnsetType:
    if body.headers is UNSET and body.client_id is UNSET and body.client_secret is UNSET:
        return UNSET
    host = find_host(call)
    known = host.secrets.read_known(server)
    if body.headers is not UNSET:
        known = msgspec.structs.replace(known, headers=_check_headers(body.headers))
    if body.client_id is not UNSET:
        known = msgspec.structs.replace(known, client_id=body.client_id)
    if body.client_secret is not UNSET:
        known = msgspec.structs.replace(known, client_secret=body.client_secret)
    return host.secrets.seal(server.id, known)


def _check_audience(call: Call, audience: Audience) -> None:
    if audience != "owner" and not is_admin(call):
        raise NotAllowed("Only an administrator can add servers for others.")


def _require_commands(call: Call) -> None:
    if not is_admin(call):
        raise NotAllowed("Only an administrator can do this.")
    if not call.app.services.settings.mcp_commands:
        raise NotAllowed("Programs are turned off here (HITSEND_MCP_COMMANDS).")


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or name.lower() in OUR_HEADERS:
            raise Refused(f"{clean_line(name, 100)} cannot be a header.", param="headers")
        if not (value.isascii() and value.isprintable()):
            raise Refused(f"The value of {name} has unusual characters.", param="headers")
    return headers


def _check_environment(environment: dict[str, str]) -> dict[str, str]:
    for name, value in environment.items():
        if not VARIABLE.fullmatch(name) or "\0" in value:
            raise Refused(f"{clean_line(name, 100)} cannot be a variable.", param="environment")
    return environment


def _check_command(command: tuple[str, ...]) -> tuple[str, ...]:
    if not command[0].strip() or any("\0" in one for one in command):
        raise Refused("Give the program and its arguments.", param="command")
    return command


def _title(given: str) -> str:
    title = clean_line(given, 80)
    if not title:
        raise Refused("Give the server a visible name.", param="title")
    return title
