"""People, for an administrator: who there is, what they may do, and their leave."""

import msgspec
from msgspec import UNSET, UnsetType
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.server.leaving import erase_person
from hitsend.store import AccountRole


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not given stays as it is."""

    role: AccountRole | UnsetType = UNSET
    is_disabled: bool | UnsetType = UNSET
    group_id: str | None | UnsetType = UNSET


@endpoint("GET", "/backend-api/people", Access.ADMIN)
async def list_people(call: Call) -> Response:
    """Everyone who has an account."""
    people = await call.house.services.store.accounts.people()
    shown = [
        {
            "id": person.id,
            "name": person.name,
            "role": person.role,
            "create_time": person.created_at,
            "is_disabled": person.is_disabled,
            "last_seen_time": person.last_seen_at,
            "num_conversations": person.num_conversations,
            "group_id": person.group_id,
        }
        for person in people
    ]
    return answer({"items": shown})


@endpoint("PATCH", "/backend-api/people/{user_id}", Access.ADMIN)
async def change_person(call: Call) -> Response:
    """Make someone an administrator or a member, put them into a group, or keep them out."""
    change = await call.body(Change)
    given = msgspec.to_builtins(change)
    if not given:
        raise Refused("Nothing was given to change.")
    # A group changes nothing of who may come in: one's own is as good as another's.
    user_id = call.path("user_id") if given.keys() == {"group_id"} else _someone_else(call)
    await call.house.services.store.accounts.change_person(user_id, **given)
    if change.is_disabled is True:  # their streams end with what they were asked for with
        await call.house.runner.stop(user_id)
    return Response(status_code=NOTHING)


@endpoint("DELETE", "/backend-api/people/{user_id}", Access.ADMIN)
async def delete_person(call: Call) -> Response:
    """Delete someone's account and everything in it, for good."""
    await erase_person(call.house, _someone_else(call))
    return Response(status_code=NOTHING)


def _someone_else(call: Call) -> str:
    user_id = call.path("user_id")
    if user_id == call.user_id:
        raise Refused("This is your own account: see your settings.", param="user_id")
    return user_id
