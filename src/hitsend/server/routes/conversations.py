"""Conversations as they are kept: the list, the tree, renaming, deleting."""

from collections import defaultdict
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.store import Conversation, ConversationLine, StoredMessage
from hitsend.wire.message import Origin, WireMessage, message

PAGE = 28
MOST_PER_PAGE = 100
MOST_QUERY_CHARS = 200


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not given stays as it is."""

    title: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    is_visible: bool | UnsetType = UNSET
    current_node: str | UnsetType = UNSET


@endpoint("GET", "/backend-api/conversations", Access.PERSON)
async def list_conversations(call: Call) -> Response:
    """One's conversations, newest first; `q` searches, `is_archived=true` shows the others."""
    offset = call.number("offset", 0, most=1_000_000_000)
    limit = call.number("limit", PAGE, most=MOST_PER_PAGE)
    query = call.request.query_params.get("q") or None
    if query and len(query) > MOST_QUERY_CHARS:
        raise Refused(f"Search for at most {MOST_QUERY_CHARS} characters.", param="q")
    is_archived = call.request.query_params.get("is_archived") == "true"
    page = await call.house.services.store.conversations.list(
        call.user_id, offset=offset, limit=limit, query=query, is_archived=is_archived
    )
    items = [_line(line) for line in page.items]
    return answer({"items": items, "total": page.total, "limit": limit, "offset": offset})


@endpoint("GET", "/backend-api/conversation/{conversation_id}", Access.PERSON)
async def get_conversation(call: Call) -> Response:
    """A conversation with all its branches."""
    conversation = await call.house.services.store.conversations.get(
        call.path("conversation_id"), call.user_id
    )
    return answer(_tree(conversation))


@endpoint("PATCH", "/backend-api/conversation/{conversation_id}", Access.PERSON)
async def change_conversation(call: Call) -> Response:
    """Rename, archive, hide, or show another branch."""
    change = await call.body(Change)
    await call.house.services.store.conversations.update(
        call.path("conversation_id"), call.user_id, **msgspec.to_builtins(change)
    )
    return answer({"success": True})


@endpoint("DELETE", "/backend-api/conversation/{conversation_id}", Access.PERSON)
async def delete_conversation(call: Call) -> Response:
    """Delete a conversation and everything that was said in it, for good."""
    conversation_id = call.path("conversation_id")
    await call.house.runner.stop(call.user_id, conversation_id)
    await call.house.services.store.conversations.delete(conversation_id, call.user_id)
    return Response(status_code=NOTHING)


def _line(line: ConversationLine) -> dict[str, object]:
    shown = {
        "id": line.id,
        "title": line.title,
        "create_time": line.created_at,
        "update_time": line.updated_at,
        "is_archived": line.is_archived,
    }
    return shown if line.snippet is None else {**shown, "snippet": line.snippet}


def _tree(conversation: Conversation) -> dict[str, object]:
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for stored in conversation.messages:
        children[stored.parent_id].append(stored.message_id)
    running = conversation.running
    return {
        "conversation_id": conversation.id,
        "title": conversation.title,
        "create_time": conversation.created_at,
        "update_time": conversation.updated_at,
        "current_node": conversation.current_node,
        "is_archived": conversation.is_archived,
        "mapping": {
            stored.message_id: {
                "id": stored.message_id,
                "parent": stored.parent_id,
                "children": children[stored.message_id],
                "message": _message(stored),
            }
            for stored in conversation.messages
        },
        "running": running
        and {"turn_exchange_id": running.turn_id, "message_id": running.answer_id},
    }


def _message(stored: StoredMessage) -> WireMessage:
    return message(stored, Origin(stored.turn_id, stored.model or "", stored.created_at))
