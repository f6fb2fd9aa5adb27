"""MCP servers: list, add, test, change, delete, their tools, and signing in at them.

A person manages their own servers. Administrators manage those of everyone and of groups, and only
they add programs, after giving their password.
"""

import re
from typing import Annotated
from uuid import uuid4

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from hitsend.canonical import canonicalize
from hitsend.errors import NotAllowed, NotFound, Refused
from hitsend.prompts.untrusted_text import wrap_untrusted
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.store.mcp_rows import Audience, McpServer, McpServerChange, McpTool, NewMcpServer
from hitsend.tools.mcp import Callback, McpHost, ServerSecrets
from hitsend.tools.mcp.definitions import clean_line, clean_text, full_name, make_prefix
from hitsend.tools.mcp.oauth import ClientChoice
from hitsend.wire.responses import (
    Items,
    McpPrompt,
    McpPromptArgument,
    McpResource,
    McpServerItem,
    McpServerList,
    McpSignIn,
    McpStatus,
    McpText,
    McpToolItem,
)

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
MAX_TEXT_CHARS = 200_000
"""Of a resource or a prompt, for a message."""


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


class ToolChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Name
    is_on: bool | None = None
    is_read_only: bool | None = None
    confirmed_digest: Annotated[str, Meta(max_length=64)] | None = None
    """Of the change that the person looked at."""


class ResourceBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    uri: Url


class PromptBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    arguments: Values = {}


@endpoint("GET", "/backend-api/mcp/servers", Access.SESSION)
async def list_servers(call: Call) -> Response:
    """List the MCP servers that the caller may use or manage, with their tools and their state."""
    store, settings = call.app.services.store.mcp, call.app.services.settings
    servers = await store.list(call.user_id)
    usable, signed_in = (
        await store.usable_ids(call.user_id),
        await store.signed_in_ids(call.user_id),
    )
    tools: dict[str, list[McpTool]] = {}
    for tool in await store.tools_of(call.user_id):
        tools.setdefault(tool.server_id, []).append(tool)
    items = [
        _item(
            call,
            one,
            tools.get(one.id, []),
            may_use=one.id in usable,
            is_signed_in=one.id in signed_in,
        )
        for one in servers
    ]
    is_admin = _is_admin(call)
    return json_response(
        McpServerList(
            items,
            can_add=is_admin or settings.mcp_people,
            can_add_commands=is_admin and settings.mcp_commands,
            can_share=is_admin,
        )
    )


@endpoint("POST", "/backend-api/mcp/servers", Access.SESSION)
async def add_server(call: Call) -> Response:
    """Add an MCP server by its address. It is tested with the next call."""
    body = await call.read_body(NewServer)
    if not (_is_admin(call) or call.app.services.settings.mcp_people):
        raise NotAllowed("Only administrators add servers here.")
    _host(call).check_url(body.url)
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
    server = await _managed(call)
    if body.url is not UNSET:
        if server.kind != "http":
            raise Refused("This server has no address: it is a program.", param="url")
        _host(call).check_url(body.url)
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
    server = await _managed(call)
    if server.kind != "command":
        raise Refused("This server is no program.", param="command")
    sealed: bytes | None | UnsetType = UNSET
    if body.environment is not UNSET:
        secrets = ServerSecrets(environment=_check_environment(body.environment))
        sealed = _host(call).seal_secrets(server.id, secrets)
    change = McpServerChange(command=_check_command(body.command), sealed=sealed)
    return await _change(call, server, change)


@endpoint("DELETE", "/backend-api/mcp/servers/{server_id}", Access.SESSION)
async def delete_server(call: Call) -> Response:
    """Delete an MCP server with its tools, calls and sign-ins."""
    server_id = call.path_param("server_id")
    await call.app.services.store.mcp.delete(server_id, call.user_id, call.actor)
    await _host(call).disconnect(server_id)
    return Response(status_code=NO_CONTENT)


@endpoint("POST", "/backend-api/mcp/servers/{server_id}/test", Access.SESSION)
async def test_server(call: Call) -> Response:
    """Connect to an MCP server anew and list its tools."""
    server = await _usable(call)
    await _host(call).test(server, call.user_id)
    return await _answer(call, server)


@endpoint("PATCH", "/backend-api/mcp/servers/{server_id}/tools", Access.SESSION)
async def change_tool(call: Call) -> Response:
    """Turn a tool on or off, confirm its change, or mark it as one that only reads."""
    body = await call.read_body(ToolChange)
    server = await _managed(call)
    if body.is_read_only is not None and not _is_admin(call):
        raise NotAllowed("Only an administrator can say that a tool only reads.")
    await call.app.services.store.mcp.set_tool(
        server.id,
        body.name,
        call.user_id,
        call.actor,
        is_on=body.is_on,
        is_read_only=body.is_read_only,
        confirmed_digest=body.confirmed_digest,
    )
    return await _answer(call, server)


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/calls", Access.SESSION)
async def list_calls(call: Call) -> Response:
    """List recent calls of a server's tools, without arguments and results."""
    store = call.app.services.store.mcp
    return json_response(Items(await store.calls(call.path_param("server_id"), call.user_id)))


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/log", Access.SESSION)
async def get_log(call: Call) -> Response:
    """List what happened at a server lately, for whoever manages it."""
    server = await _managed(call)
    return json_response(Items(_host(call).log(server.id)))


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/resources", Access.SESSION)
async def list_resources(call: Call) -> Response:
    """List the resources of an MCP server."""
    found = await _host(call).list_resources(await _usable(call, needs_on=True), call.user_id)
    items = [
        McpResource(
            uri=str(one.uri),
            name=clean_line(one.title or one.name, 200),
            description=clean_text(one.description or "", 1_000),
            media_type=clean_line(one.mime_type or "", 100),
        )
        for one in found
    ]
    return json_response(Items(items))


@endpoint("POST", "/backend-api/mcp/servers/{server_id}/resources/read", Access.SESSION)
async def read_resource(call: Call) -> Response:
    """Read a resource as marked text, to attach it to a message."""
    body = await call.read_body(ResourceBody)
    server = await _usable(call, needs_on=True)
    read = await _host(call).read_resource(server, call.user_id, body.uri)
    source = f"{server.title}: {clean_line(body.uri, 2_000)}"
    return json_response(McpText(wrap_untrusted("resource", f"{source}\n{_cut(read.output)}")))


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/prompts", Access.SESSION)
async def list_prompts(call: Call) -> Response:
    """List the prompts of an MCP server, for commands in the composer."""
    found = await _host(call).list_prompts(await _usable(call, needs_on=True), call.user_id)
    items = [
        McpPrompt(
            name=one.name,
            title=clean_line(one.title or one.name, 200),
            description=clean_text(one.description or "", 1_000),
            arguments=[
                McpPromptArgument(
                    name=argument.name,
                    description=clean_line(argument.description or "", 500),
                    is_required=bool(argument.required),
                )
                for argument in one.arguments or ()
            ],
        )
        for one in found
    ]
    return json_response(Items(items))


@endpoint("POST", "/backend-api/mcp/servers/{server_id}/prompts/get", Access.SESSION)
async def get_prompt(call: Call) -> Response:
    """Get the text of a prompt, for the composer: the person reads it before sending it."""
    body = await call.read_body(PromptBody)
    server = await _usable(call, needs_on=True)
    text = await _host(call).get_prompt(server, call.user_id, body.name, body.arguments)
    return json_response(McpText(_cut(canonicalize(text))))


@endpoint("POST", "/backend-api/mcp/servers/{server_id}/sign-in", Access.SESSION)
async def begin_sign_in(call: Call) -> Response:
    """Begin to sign in at an MCP server. Answers with the address to open."""
    server, host = await _usable(call), _host(call)
    if server.kind != "http":
        raise Refused("This server is a program: there is nothing to sign in at.")
    secrets = host.read_secrets(server)
    choice = ClientChoice(secrets.client_id, secrets.client_secret)
    url = await host.sign_ins.begin(server, call.user_id, base_url(call), choice)
    return json_response(McpSignIn(url))


@endpoint("POST", "/backend-api/mcp/sign-in", Access.SESSION)
async def finish_sign_in(call: Call) -> Response:
    """Finish a sign-in, with what the browser was sent back with."""
    body = await call.read_body(Callback)
    host = _host(call)
    server_id = await host.sign_ins.finish(body, call.user_id, call.actor)
    server = await call.app.services.store.mcp.find_usable(server_id, call.user_id)
    await host.test(server, call.user_id)
    return await _answer(call, server)


@endpoint("DELETE", "/backend-api/mcp/servers/{server_id}/sign-in", Access.SESSION)
async def sign_out(call: Call) -> Response:
    """Forget the caller's sign-in at an MCP server."""
    server, host = await _usable(call), _host(call)
    await host.sign_ins.sign_out(server.id, call.user_id, call.actor)
    await host.disconnect(server.id, call.user_id)
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
        sealed=_host(call).seal_secrets(server_id, secrets),
        timeout_s=body.timeout_s,
        group_ids=body.group_ids,
    )
    server = await call.app.services.store.mcp.add(new, call.actor)
    return await _answer(call, server, 201)


async def _change(call: Call, server: McpServer, change: McpServerChange) -> Response:
    changed = await call.app.services.store.mcp.change(server.id, call.user_id, change, call.actor)
    await _host(call).disconnect(server.id)
    return await _answer(call, changed)


async def _answer(call: Call, server: McpServer, status: int = 200) -> Response:
    store = call.app.services.store.mcp
    item = _item(
        call,
        server,
        list(await store.tools(server.id)),
        may_use=server.id in await store.usable_ids(call.user_id),
        is_signed_in=server.id in await store.signed_in_ids(call.user_id),
    )
    return json_response(item, status)


def _item(
    call: Call, server: McpServer, tools: list[McpTool], *, may_use: bool, is_signed_in: bool
) -> McpServerItem:
    host, is_admin = _host(call), _is_admin(call)
    may_manage = server.owner_id == call.user_id or (server.owner_id is None and is_admin)
    secrets = ServerSecrets()
    if may_manage:
        secrets = host.read_known_secrets(server)
    status = host.status(server, call.user_id)
    items = [_tool_item(server, one) for one in tools if may_manage or one.is_usable]
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
        can_mark_read_only=may_manage and is_admin,
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


def _tool_item(server: McpServer, tool: McpTool) -> McpToolItem:
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


async def _usable(call: Call, *, needs_on: bool = False) -> McpServer:
    """Also one that an administrator manages for others, unless it is used."""
    store = call.app.services.store.mcp
    server_id = call.path_param("server_id")
    if needs_on:
        server = await store.find_usable(server_id, call.user_id)
        if not server.is_on:
            raise NotFound("This server is turned off.", param="server_id")
        return server
    return await store.find_seen(server_id, call.user_id)


async def _managed(call: Call) -> McpServer:
    store = call.app.services.store.mcp
    return await store.find_managed(call.path_param("server_id"), call.user_id)


def _sealed(call: Call, server: McpServer, body: ServerChange) -> bytes | None | UnsetType:
    if body.headers is UNSET and body.client_id is UNSET and body.client_secret is UNSET:
        return UNSET
    host = _host(call)
    known = host.read_known_secrets(server)
    if body.headers is not UNSET:
        known = msgspec.structs.replace(known, headers=_check_headers(body.headers))
    if body.client_id is not UNSET:
        known = msgspec.structs.replace(known, client_id=body.client_id)
    if body.client_secret is not UNSET:
        known = msgspec.structs.replace(known, client_secret=body.client_secret)
    return host.seal_secrets(server.id, known)


def _check_audience(call: Call, audience: Audience) -> None:
    if audience != "owner" and not _is_admin(call):
        raise NotAllowed("Only an administrator can add servers for others.")


def _require_commands(call: Call) -> None:
    if not _is_admin(call):
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


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]}\n[cut: it has {len(text):,} characters]"


def _is_admin(call: Call) -> bool:
    return call.identity.user.role == "admin"


def _host(call: Call) -> McpHost:
    if call.app.mcp is None:
        raise NotFound("Tools are turned off here.")
    return call.app.mcp
