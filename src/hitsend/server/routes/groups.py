"""Groups of users, for administrators: their names, and the tools that there are for them.
`users.py` puts users into groups."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.tools import Feature, MissingFeature
from hitsend.wire.responses import Items

FeatureName: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class GroupName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]


class GroupFeatures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    features: Annotated[tuple[FeatureName, ...], msgspec.Meta(max_length=500)] | None
    """None: all that there are."""


class AllFeatures(msgspec.Struct, frozen=True):
    items: Sequence[Feature]
    missing: Sequence[MissingFeature]
    """Features that an administrator can set up."""


@endpoint("GET", "/backend-api/groups", Access.ADMIN)
async def list_groups(call: Call) -> Response:
    """List groups by name."""
    return json_response(Items(await call.app.services.store.groups.list()))


@endpoint("POST", "/backend-api/groups", Access.ADMIN)
async def create_group(call: Call) -> Response:
    """Create a group."""
    name, groups = await _name(call), call.app.services.store.groups
    return json_response(await groups.create(name, call.actor), 201)


@endpoint("PATCH", "/backend-api/groups/{group_id}", Access.ADMIN)
async def rename_group(call: Call) -> Response:
    """Rename a group."""
    name, groups = await _name(call), call.app.services.store.groups
    return json_response(await groups.rename(call.path_param("group_id"), name, call.actor))


@endpoint("GET", "/backend-api/groups/features", Access.ADMIN)
async def list_all_features(call: Call) -> Response:
    """List the features of tools that a group can have, and those that are not set up."""
    toolbox = call.app.services.toolbox
    features = await toolbox.all_features(call.user_id)
    return json_response(AllFeatures(features, call.app.missing_features))


@endpoint("PUT", "/backend-api/groups/{group_id}/features", Access.ADMIN)
async def set_features(call: Call) -> Response:
    """Set the features of tools that the users of a group may turn on."""
    body, groups = await call.read_body(GroupFeatures), call.app.services.store.groups
    group_id = call.path_param("group_id")
    return json_response(await groups.set_features(group_id, body.features, call.actor))


@endpoint("DELETE", "/backend-api/groups/{group_id}", Access.ADMIN)
async def delete_group(call: Call) -> Response:
    """Delete a group and its limits. Its users are kept, without a group."""
    await call.app.services.store.groups.delete(call.path_param("group_id"), call.actor)
    return Response(status_code=NO_CONTENT)


async def _name(call: Call) -> str:
    name = (await call.read_body(GroupName)).name.strip()
    if not name.isprintable() or not name:
        raise Refused("Give the group a visible name.", param="name")
    return name
