"""Forgotten passwords: an administrator makes a link, with which its person chooses a new one.

The link does not sign anyone in: whoever has chosen a password signs in with it, as always.
"""

import time
from typing import TypeVar

import msgspec
from starlette.responses import Response

from hitsend.credentials import hash_password, hash_token, name_key, new_token
from hitsend.errors import Refused
from hitsend.server.auth.identify import check_origin
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.server.routes.accounts import Password, Token
from hitsend.server.routes.users import other_user_id
from hitsend.store import User
from hitsend.wire.responses import CreatedReset, Items, ResetCheck

B = TypeVar("B", bound="Link")

VALID_S = 86_400


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: Token


class NewPassword(Link, frozen=True, forbid_unknown_fields=True):
    password: Password
    revokes_keys: bool = False


@endpoint("POST", "/backend-api/people/{user_id}/reset-password", Access.ADMIN_SESSION)
async def create_reset_link(call: Call) -> Response:
    """Create a link with which a person can choose a new password, once, within a day."""
    token, expires_at = new_token(), time.time() + VALID_S
    await call.app.services.store.password_resets.create(
        other_user_id(call),
        hash_token(token),
        expires_at,
        admin=call.identity.user,
        by=call.actor,
    )
    return json_response(CreatedReset(path=f"/#reset={token}", expires_at=expires_at), 201)


@endpoint("POST", "/backend-api/accounts/reset/check", Access.ANYONE)
async def check_reset_link(call: Call) -> Response:
    """Tell whose password a link resets."""
    _, user, num_keys = await _read_link(call, Link)
    return json_response(ResetCheck(name=user.name, num_keys=num_keys))


@endpoint("POST", "/backend-api/accounts/reset", Access.ANYONE)
async def reset_password(call: Call) -> Response:
    """Choose a new password with a link. Ends every session; `revokes_keys` deletes the keys."""
    body, user, _ = await _read_link(call, NewPassword)
    address = client_address(call.request)
    password_hash = await hash_password(body.password, name=user.name, address=address)
    await call.app.services.store.password_resets.redeem(
        hash_token(body.token), password_hash, revokes_keys=body.revokes_keys, by=call.actor
    )
    # The tries that failed before must not keep the person waiting now.
    call.app.sign_in_throttle.record_sign_in(address, name_key(user.name))
    return Response(status_code=NO_CONTENT)


@endpoint("GET", "/backend-api/me/password-resets", Access.SESSION)
async def list_resets(call: Call) -> Response:
    """List the resets of the caller's password: who made each, and whether it was used."""
    return json_response(Items(await call.app.services.store.password_resets.list(call.user_id)))


@endpoint("POST", "/backend-api/me/password-resets/seen", Access.SESSION)
async def mark_resets_seen(call: Call) -> Response:
    """Note that the caller has read about the resets of their password."""
    await call.app.services.store.password_resets.mark_seen(call.user_id)
    return Response(status_code=NO_CONTENT)


async def _read_link(call: Call, kind: type[B]) -> tuple[B, User, int]:
    """Checks the link before a password is hashed, which is slow."""
    check_origin(call.request)
    body = await call.read_body(kind)
    with call.app.sign_in_throttle.begin(client_address(call.request), None) as attempt:
        try:
            found = await call.app.services.store.password_resets.check(hash_token(body.token))
        except Refused:
            attempt.record_failure()
            raise
    return body, *found
