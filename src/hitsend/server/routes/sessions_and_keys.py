"""The caller's credentials: browser sessions and API keys."""

import time
from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.credentials import hash_token, key_prefix, new_key
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.store import KeyScope
from hitsend.store.keys import DEFAULT_SCOPES
from hitsend.wire.responses import BrowserSession, CreatedKey, Items

DAY_S = 86_400


class NewKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    label: Annotated[str, msgspec.Meta(max_length=100)] = ""
    scopes: Annotated[tuple[KeyScope, ...], msgspec.Meta(min_length=1, max_length=4)] = (
        DEFAULT_SCOPES
    )
    days: Annotated[int, msgspec.Meta(ge=1, le=3650)] | None = None
    """After so many it expires. None: never."""


@endpoint("GET", "/backend-api/sessions", Access.SESSION)
async def list_sessions(call: Call) -> Response:
    """List the browsers the caller is signed in with."""
    current = call.identity.session
    assert current is not None
    sessions = await call.app.services.store.accounts.list_sessions(call.user_id)
    items = [
        BrowserSession(
            id=session.id,
            created_at=session.created_at,
            last_seen_at=session.last_seen_at,
            user_agent=session.user_agent,
            is_current=session.id == current.id,
        )
        for session in sessions
    ]
    return json_response(Items(items))


@endpoint("DELETE", "/backend-api/sessions/{session_id}", Access.SESSION)
async def revoke_session(call: Call) -> Response:
    """Sign a browser out."""
    await call.app.services.store.accounts.revoke_session(
        call.path_param("session_id"), call.user_id, call.actor
    )
    return Response(status_code=NO_CONTENT)


@endpoint("GET", "/backend-api/keys", Access.SESSION)
async def list_keys(call: Call) -> Response:
    """List the caller's API keys."""
    return json_response(Items(await call.app.services.store.accounts.list_keys(call.user_id)))


@endpoint("POST", "/backend-api/keys", Access.SESSION)
async def create_key(call: Call) -> Response:
    """Create an API key with scopes and an expiry. It is shown only in this response."""
    body = await call.read_body(NewKey)
    key = new_key()
    stored = await call.app.services.store.accounts.create_key(
        call.user_id,
        hash_token(key),
        key_prefix(key),
        body.label,
        body.scopes,
        time.time() + body.days * DAY_S if body.days is not None else None,
        call.actor,
    )
    created = CreatedKey(
        id=stored.id,
        prefix=stored.prefix,
        label=stored.label,
        key=key,
        scopes=stored.scopes,
        expires_at=stored.expires_at,
    )
    return json_response(created, 201)


@endpoint("DELETE", "/backend-api/keys/{key_id}", Access.SESSION)
async def revoke_key(call: Call) -> Response:
    """Revoke an API key."""
    accounts = call.app.services.store.accounts
    await accounts.revoke_key(call.path_param("key_id"), call.user_id, call.actor)
    return Response(status_code=NO_CONTENT)
