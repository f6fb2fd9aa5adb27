"""Groups of users, for administrators. `users.py` puts users into groups."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.wire.responses import Items


class GroupName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]


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
