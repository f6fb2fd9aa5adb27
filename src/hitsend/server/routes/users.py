"""Users, for administrators: list, change roles and groups, disable, delete."""

import msgspec
from msgspec import UNSET, UnsetType
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.data.erase import erase_account
from hitsend.store import AccountRole
from hitsend.wire.responses import Items, Person


class PersonChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields that are left out stay unchanged."""

    role: AccountRole | UnsetType = UNSET
    is_disabled: bool | UnsetType = UNSET
    group_id: str | None | UnsetType = UNSET


@endpoint("GET", "/backend-api/people", Access.ADMIN)
async def list_users(call: Call) -> Response:
    """List all users."""
    store = call.app.services.store
    accounts, sizes = await store.accounts.list_accounts(), await store.storage.by_user()
    items = [
        Person(
            id=account.id,
            name=account.name,
            role=account.role,
            create_time=account.created_at,
            is_disabled=account.is_disabled,
            last_seen_time=account.last_seen_at,
            num_conversations=account.num_conversations,
            group_id=account.group_id,
            num_bytes=sizes.get(account.id, 0),
        )
        for account in accounts
    ]
    return json_response(Items(items))


@endpoint("PATCH", "/backend-api/people/{user_id}", Access.ADMIN)
async def change_user(call: Call) -> Response:
    """Change a user's role or group, or disable the account."""
    change = await call.read_body(PersonChange)
    changes = msgspec.to_builtins(change)
    if not changes:
        raise Refused("Nothing was given to change.")
    # Administrators may change their own group: they cannot lock themselves out with that.
    user_id = call.path_param("user_id") if changes.keys() == {"group_id"} else other_user_id(call)
    await call.app.services.store.accounts.change_account(user_id, by=call.actor, **changes)
    if change.is_disabled is True:  # which also revoked the sessions of the user's streams
        await call.app.runner.stop(user_id)
    return Response(status_code=NO_CONTENT)


@endpoint("DELETE", "/backend-api/people/{user_id}", Access.ADMIN)
async def delete_user(call: Call) -> Response:
    """Delete a user's account and everything in it, permanently."""
    store, runner = call.app.services.store, call.app.runner
    await erase_account(store, runner, other_user_id(call), call.actor)
    return Response(status_code=NO_CONTENT)


def other_user_id(call: Call) -> str:
    user_id = call.path_param("user_id")
    if user_id == call.user_id:
        raise Refused("This is your own account: see your settings.", param="user_id")
    return user_id
