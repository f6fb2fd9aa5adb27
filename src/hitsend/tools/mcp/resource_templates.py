"""Addresses of resources with places to fill in, such as `notes://{day}` (RFC 6570)."""

from collections.abc import Mapping, Sequence

import mcp_types as types
import msgspec
from mcp import Client, MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from hitsend.errors import Refused
from hitsend.tools.mcp.definitions import clean_line
from hitsend.tools.mcp.listings import list_all

MAX_TEMPLATE_CHARS, MAX_VARIABLES, MAX_URI_CHARS = 1_000, 16, 2_000
OPTIONAL = frozenset("?&#;")
"""The kinds of places that may stay empty: queries and what is after the address."""


class TemplateVariable(msgspec.Struct, frozen=True):
    name: str
    is_required: bool


async def list_templates(client: Client, max_items: int) -> Sequence[types.ResourceTemplate]:
    """Returns none from a server that does not know of templates."""
    try:
        return await list_all(
            client.list_resource_templates, lambda page: page.resource_templates, max_items
        )
    except MCPError as error:
        if error.code == types.METHOD_NOT_FOUND:
            return ()
        raise


def read_variables(template: str) -> Sequence[TemplateVariable]:
    """Raises Refused for a template that cannot be filled in."""
    found = {one.name: one.operator not in OPTIONAL for one in _parse(template).variables}
    return [TemplateVariable(name, is_required) for name, is_required in found.items()]


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Returns the address. Raises Refused if a value is missing or unknown."""
    parsed = _parse(template)
    given = {name: value.strip() for name, value in values.items() if value.strip()}
    for one in read_variables(template):
        if one.is_required and one.name not in given:
            raise Refused(f"{one.name} is needed.", param="values")
    if unknown := given.keys() - set(parsed.variable_names):
        raise Refused(f"There is nothing to fill in for {min(unknown)!r}.", param="values")
    exploded = {one.name for one in parsed.variables if one.explode}
    uri = parsed.expand(
        {name: _split(value) if name in exploded else value for name, value in given.items()}
    )
    if len(uri) > MAX_URI_CHARS:
        raise Refused(f"The address is longer than {MAX_URI_CHARS:,} characters.", param="values")
    return uri


def _parse(template: str) -> UriTemplate:
    try:
        return UriTemplate.parse(
            template, max_length=MAX_TEMPLATE_CHARS, max_variables=MAX_VARIABLES
        )
    except InvalidUriTemplate as error:
        said = clean_line(str(error), 200)
        raise Refused(f"The template cannot be filled in: {said}.", param="uri") from None


def _split(value: str) -> list[str]:
    return [part for part in value.split("/") if part]
