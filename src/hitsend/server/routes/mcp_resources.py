"""Resources of MCP servers, and their prompts: texts that a person adds to a message."""

from collections.abc import Sequence
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.tool_servers import find_host, find_in_use
from hitsend.tools.mcp.definitions import clean_line, clean_text
from hitsend.wire.responses import (
    Items,
    McpPrompt,
    McpPromptArgument,
    McpResource,
    McpResourceText,
    McpSource,
    McpText,
    McpVariable,
)

Url = Annotated[str, Meta(min_length=1, max_length=2_000)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
Value = Annotated[str, Meta(max_length=8_000)]
Values = Annotated[dict[Name, Value], Meta(max_length=64)]


class ResourceBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    uri: Url
    values: Values | None = None
    """For a template: then `uri` has places to fill in."""


class Described(Protocol):
    """A resource or a template, as its server describes it."""

    name: str
    title: str | None
    description: str | None
    mime_type: str | None


class Template(Described, Protocol):
    uri_template: str


class PromptBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    arguments: Values = {}


@endpoint("GET", "/backend-api/mcp/sources", Access.SESSION)
async def list_sources(call: Call) -> Response:
    """List the MCP servers whose resources and prompts the caller may use. Connects to none."""
    if call.app.mcp is None:
        return json_response(Items(()))
    store, connections = call.app.services.store.mcp_servers, call.app.mcp.connections
    usable = await store.usable_ids(call.user_id)
    items = []
    for one in await store.list(call.user_id):
        if not one.is_on or one.id not in usable:
            continue
        offers = connections.find_offers(one.id)
        source = McpSource(
            id=one.id,
            title=one.title,
            prefix=one.prefix,
            may_have_resources=offers is None or offers.resources,
            may_have_prompts=offers is None or offers.prompts,
        )
        items.append(source)
    return json_response(Items(items))


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/resources", Access.SESSION)
async def list_resources(call: Call) -> Response:
    """List the resources of an MCP server, and its templates of resources."""
    host, server = find_host(call), await find_in_use(call)
    whole = await host.list_resources(server, call.user_id)
    templates = await host.list_templates(server, call.user_id)
    items = [_resource(one, one.uri) for one in whole]
    items += [item for one in templates if (item := _template(one)) is not None]
    return json_response(Items(items))


@endpoint("POST", "/backend-api/mcp/servers/{server_id}/resources/read", Access.SESSION)
async def read_resource(call: Call) -> Response:
    """Read the text of a resource, to attach it to a message."""
    body = await call.read_body(ResourceBody)
    server, uri = await find_in_use(call), body.uri
    if body.values is not None:
        from hitsend.tools.mcp.resource_templates import fill_template

        uri = fill_template(body.uri, body.values)
    text = await find_host(call).read_resource(server, call.user_id, uri)
    return json_response(McpResourceText(uri, text))


def _template(template: Template) -> McpResource | None:
    """Returns None for one that cannot be filled in."""
    from hitsend.tools.mcp.resource_templates import read_variables

    try:
        found = read_variables(template.uri_template)
    except Refused:
        return None
    variables = [McpVariable(name=one.name, is_required=one.is_required) for one in found]
    return _resource(template, template.uri_template, variables)


def _resource(one: Described, uri: str, variables: Sequence[McpVariable] = ()) -> McpResource:
    return McpResource(
        uri=uri,
        name=clean_line(one.title or one.name, 200),
        description=clean_text(one.description or "", 1_000),
        media_type=clean_line(one.mime_type or "", 100),
        variables=variables,
    )


@endpoint("GET", "/backend-api/mcp/servers/{server_id}/prompts", Access.SESSION)
async def list_prompts(call: Call) -> Response:
    """List the prompts of an MCP server, for commands in the composer."""
    found = await find_host(call).list_prompts(await find_in_use(call), call.user_id)
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
    server = await find_in_use(call)
    text = await find_host(call).get_prompt(server, call.user_id, body.name, body.arguments)
    return json_response(McpText(text))
