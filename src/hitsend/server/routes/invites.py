"""Invitations: every account but the first is created with one."""

import time
from typing import Literal

import msgspec
from starlette.responses import Response

from hitsend.credentials import hash_token, new_token
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.wire.responses import CreatedInvite, Items

VALID_S = 7 * 86_400


class NewInvite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: Literal["member", "reviewer", "admin"] = "member"


@endpoint("GET", "/backend-api/invites", Access.ADMIN)
async def list_invites(call: Call) -> Response:
    """List invitations, used and open."""
    return json_response(Items(await call.app.services.store.accounts.list_invites()))


@endpoint("POST", "/backend-api/invites", Access.ADMIN)
async def create_invite(call: Call) -> Response:
    """Create a link with which one person can sign up within a week."""
    body = await call.read_body(NewInvite)
    token = new_token()
    invite = await call.app.services.store.accounts.create_invite(
        hash_token(token), body.role, call.user_id, time.time() + VALID_S, call.actor
    )
    created = CreatedInvite(
        id=invite.id,
        role=invite.role,
        expires_at=invite.expires_at,
        token=token,
        path=f"/invite/{token}",
    )
    return json_response(created, 201)


@endpoint("DELETE", "/backend-api/invites/{invite_id}", Access.ADMIN)
async def revoke_invite(call: Call) -> Response:
    """Revoke an invitation."""
    accounts = call.app.services.store.accounts
    await accounts.revoke_invite(call.path_param("invite_id"), call.actor)
    return Response(status_code=NO_CONTENT)
