"""Invitations: how everyone but the first person gets an account."""

import time
from typing import Literal

import msgspec
from starlette.responses import Response

from hitsend.credentials import hash_token, new_token
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint

VALID_S = 7 * 86_400


class NewInvite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: Literal["member", "admin"] = "member"


@endpoint("GET", "/backend-api/invites", Access.ADMIN)
async def list_invites(call: Call) -> Response:
    """Invitations, used and open."""
    return answer({"items": await call.house.services.store.accounts.invites()})


@endpoint("POST", "/backend-api/invites", Access.ADMIN)
async def create_invite(call: Call) -> Response:
    """Make a link with which one person can sign up within a week."""
    body = await call.body(NewInvite)
    token = new_token()
    invite = await call.house.services.store.accounts.create_invite(
        hash_token(token), body.role, call.user_id, time.time() + VALID_S
    )
    shown = {"id": invite.id, "role": invite.role, "expires_at": invite.expires_at}
    return answer({**shown, "token": token, "path": f"/invite/{token}"}, 201)


@endpoint("DELETE", "/backend-api/invites/{invite_id}", Access.ADMIN)
async def revoke_invite(call: Call) -> Response:
    """Make an invitation useless."""
    await call.house.services.store.accounts.revoke_invite(call.path("invite_id"))
    return Response(status_code=NOTHING)
