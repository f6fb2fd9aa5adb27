"""Shares: public links to one path of a conversation, until they are revoked."""

import asyncio

import msgspec
from msgspec import structs
from starlette.responses import Response

from hitsend.errors import NotAllowed, NotFound
from hitsend.messages import Attachment, Thought, hide_values
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.store import MessageRow, Share, SharedPath
from hitsend.wire.message import Origin, WireMessage, build_message
from hitsend.wire.responses import Items, SharedConversation, ShareLink

HEADERS = {"x-robots-tag": "noindex"}
"""A revoked share must not live on in a search engine."""


class NewShare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    current_node: str


@endpoint("POST", "/backend-api/conversation/{conversation_id}/shares", Access.SESSION)
async def create_share(call: Call) -> Response:
    """Share the path from the first message to `current_node`, as it is now."""
    current_node = (await call.read_body(NewShare)).current_node
    if not call.app.services.settings.allow_sharing:
        raise NotAllowed("Sharing is switched off here (HITSEND_ALLOW_SHARING).")
    share = await call.app.services.store.shares.create(
        call.path_param("conversation_id"), call.user_id, current_node, call.actor
    )
    return json_response(_item(share), 201)


@endpoint("GET", "/backend-api/shares", Access.SESSION)
async def list_shares(call: Call) -> Response:
    """List the caller's shares, newest first."""
    shares = await call.app.services.store.shares.list(call.user_id)
    return json_response(Items([_item(share) for share in shares]))


@endpoint("DELETE", "/backend-api/shares/{share_id}", Access.SESSION)
async def revoke_share(call: Call) -> Response:
    """Revoke a share: nobody can read it any more."""
    shares = call.app.services.store.shares
    await shares.revoke(call.path_param("share_id"), call.user_id, call.actor)
    return Response(status_code=NO_CONTENT)


@endpoint("GET", "/backend-api/share/{share_id}", Access.ANYONE)
async def read_share(call: Call) -> Response:
    """Read a shared conversation. Anyone who knows its id may."""
    if not call.app.services.settings.allow_sharing:
        raise NotFound("Sharing is switched off here.", param="share_id")
    shared = await call.app.services.store.shares.read(call.path_param("share_id"))
    # In a thread: a long one takes a tenth of a second, and anyone may request it.
    return await asyncio.to_thread(lambda: json_response(_view(shared), headers=HEADERS))


def _item(share: Share) -> ShareLink:
    return ShareLink(
        id=share.id,
        path=f"/share/{share.id}",
        title=share.title,
        conversation_id=share.conversation_id,
        create_time=share.created_at,
    )


def _view(shared: SharedPath) -> SharedConversation:
    messages = tuple(_message(stored) for stored in shared.messages)
    return SharedConversation(title=shared.title, create_time=shared.created_at, messages=messages)


def _message(stored: MessageRow) -> WireMessage:
    """Leaves out usage, errors and context, and what the person attached."""
    shown = (part for part in stored.parts if not isinstance(part, Attachment | Thought))
    parts = tuple(map(hide_values, shown))
    public = structs.replace(stored, parts=parts, usage=None, problem=None, seen=None, safety=None)
    return build_message(public, Origin(None, stored.model or "", stored.created_at))
