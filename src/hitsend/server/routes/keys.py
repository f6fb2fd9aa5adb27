"""API keys: made here, shown once, known afterwards by their first letters."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.credentials import hash_token, key_prefix, new_key
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint


class NewKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    label: Annotated[str, msgspec.Meta(max_length=100)] = ""


@endpoint("GET", "/backend-api/keys", Access.SESSION)
async def list_keys(call: Call) -> Response:
    """One's API keys."""
    return answer({"items": await call.house.services.store.accounts.keys(call.user_id)})


@endpoint("POST", "/backend-api/keys", Access.SESSION)
async def create_key(call: Call) -> Response:
    """Make an API key. This is the only time it is shown."""
    body = await call.body(NewKey)
    key = new_key()
    made = await call.house.services.store.accounts.create_key(
        call.user_id, hash_token(key), key_prefix(key), body.label
    )
    return answer({"id": made.id, "key": key, "prefix": made.prefix, "label": made.label}, 201)


@endpoint("DELETE", "/backend-api/keys/{key_id}", Access.SESSION)
async def revoke_key(call: Call) -> Response:
    """Make an API key useless."""
    await call.house.services.store.accounts.revoke_key(call.path("key_id"), call.user_id)
    return Response(status_code=NOTHING)
