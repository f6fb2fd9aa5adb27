"""Shares: links by which anyone may read a path of a conversation, until they are taken back."""

import asyncio

import msgspec
from msgspec import structs
from starlette.responses import Response

from hitsend.errors import NotAllowed, NotFound
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.store import Share, Shared, StoredMessage
from hitsend.wire.message import Origin, WireMessage, message

HEADERS = {"x-robots-tag": "noindex", "cache-control": "no-store"}
"""What is taken back must not live on in a search engine or a cache."""


class NewShare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    current_node: str


@endpoint("POST", "/backend-api/conversation/{conversation_id}/shares", Access.SESSION)
async def create_share(call: Call) -> Response:
    """Share the path from the first message to `current_node`, as it is now."""
    current_node = (await call.body(NewShare)).current_node
    if not call.house.services.settings.allow_sharing:
        raise NotAllowed("Sharing is switched off here (HITSEND_ALLOW_SHARING).")
    share = await call.house.services.store.shares.create(
        call.path("conversation_id"), call.user_id, current_node
    )
    return answer(_line(share), 201)


@endpoint("GET", "/backend-api/shares", Access.SESSION)
async def list_shares(call: Call) -> Response:
    """What one shares, newest first."""
    shares = await call.house.services.store.shares.list(call.user_id)
    return answer({"items": [_line(share) for share in shares]})


@endpoint("DELETE", "/backend-api/shares/{share_id}", Access.SESSION)
async def revoke_share(call: Call) -> Response:
    """Take a share back: from here on nobody can read it."""
    await call.house.services.store.shares.revoke(call.path("share_id"), call.user_id)
    return Response(status_code=NOTHING)


@endpoint("GET", "/backend-api/share/{share_id}", Access.ANYONE)
async def read_share(call: Call) -> Response:
    """What somebody shares. To know its id is to be allowed."""
    if not call.house.services.settings.allow_sharing:
        raise NotFound("Sharing is switched off here.", param="share_id")
    shared = await call.house.services.store.shares.read(call.path("share_id"))
    # Not on the event loop: a long one takes a tenth of a second, and anyone may ask for it.
    return await asyncio.to_thread(lambda: answer(_told(shared), headers=HEADERS))


def _line(share: Share) -> dict[str, object]:
    return {
        "id": share.id,
        "path": f"/share/{share.id}",
        "title": share.title,
        "conversation_id": share.conversation_id,
        "create_time": share.created_at,
    }


def _told(shared: Shared) -> dict[str, object]:
    messages = [_message(stored) for stored in shared.messages]
    return {"title": shared.title, "create_time": shared.created_at, "messages": messages}


def _message(stored: StoredMessage) -> WireMessage:
    """What was said, and no more: neither what it cost, what broke on the way, nor what else the
    model knew."""
    said = structs.replace(stored, usage=None, problem=None, seen=None)
    return message(said, Origin(None, stored.model or "", stored.created_at))
