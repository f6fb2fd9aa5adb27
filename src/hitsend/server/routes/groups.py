"""Groups of people, for an administrator. Who is in one is the people's own route."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint


class GroupName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]


@endpoint("GET", "/backend-api/groups", Access.ADMIN)
async def list_groups(call: Call) -> Response:
    """Every group, by name."""
    return answer({"items": await call.house.services.store.groups.list()})


@endpoint("POST", "/backend-api/groups", Access.ADMIN)
async def create_group(call: Call) -> Response:
    """Make a group."""
    return answer(await call.house.services.store.groups.create(await _name(call)), 201)


@endpoint("PATCH", "/backend-api/groups/{group_id}", Access.ADMIN)
async def rename_group(call: Call) -> Response:
    """Rename a group."""
    name, groups = await _name(call), call.house.services.store.groups
    return answer(await groups.rename(call.path("group_id"), name))


@endpoint("DELETE", "/backend-api/groups/{group_id}", Access.ADMIN)
async def delete_group(call: Call) -> Response:
    """Delete a group and its limits. Its people stay, in no group."""
    await call.house.services.store.groups.delete(call.path("group_id"))
    return Response(status_code=NOTHING)


async def _name(call: Call) -> str:
    name = (await call.body(GroupName)).name.strip()
    if not name.isprintable() or not name:
        raise Refused("Give the group a name that can be seen.", param="name")
    return name
