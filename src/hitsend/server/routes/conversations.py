"""Conversations as they are kept: the list, the tree, changing, deleting."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.server.trees import tree
from hitsend.store import ConversationLine

PAGE = 28
MOST_PER_PAGE = 100
MOST_QUERY_CHARS = 200


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not given stays as it is."""

    title: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    is_pinned: bool | UnsetType = UNSET
    is_visible: bool | UnsetType = UNSET
    folder_id: str | None | UnsetType = UNSET
    current_node: str | UnsetType = UNSET


@endpoint("GET", "/backend-api/conversations", Access.PERSON)
async def list_conversations(call: Call) -> Response:
    """One's conversations, newest first: by `is_archived`, `is_pinned`, `folder_id`, or `q`."""
    offset = call.number("offset", 0, most=1_000_000_000)
    limit = call.number("limit", PAGE, most=MOST_PER_PAGE)
    conversations = call.house.services.store.conversations
    if query := call.request.query_params.get("q"):
        if len(query) > MOST_QUERY_CHARS:
            raise Refused(f"Search for at most {MOST_QUERY_CHARS} characters.", param="q")
        page = await conversations.search(call.user_id, query, offset=offset, limit=limit)
    else:
        page = await conversations.list(
            call.user_id,
            offset=offset,
            limit=limit,
            is_archived=_claim(call, "is_archived") or False,
            is_pinned=_claim(call, "is_pinned"),
            folder_id=_folder(call),
        )
    items = [_line(line) for line in page.items]
    return answer({"items": items, "total": page.total, "limit": limit, "offset": offset})


def _claim(call: Call, name: str) -> bool | None:
    """None where it is not made."""
    match call.request.query_params.get(name):
        case None:
            return None
        case "true":
            return True
        case "false":
            return False
        case _:
            raise Refused(f"`{name}` has to be true or false.", param=name)


def _folder(call: Call) -> str | None | UnsetType:
    folder_id = call.request.query_params.get("folder_id", UNSET)
    return None if folder_id == "none" else folder_id


@endpoint("GET", "/backend-api/conversation/{conversation_id}", Access.PERSON)
async def get_conversation(call: Call) -> Response:
    """A conversation with all its branches."""
    conversation = await call.house.services.store.conversations.get(
        call.path("conversation_id"), call.user_id
    )
    # Not on the event loop: a long one takes tens of milliseconds.
    return await asyncio.to_thread(lambda: answer(tree(conversation)))


@endpoint("PATCH", "/backend-api/conversation/{conversation_id}", Access.PERSON)
async def change_conversation(call: Call) -> Response:
    """Rename, archive, pin, put in a folder, show another branch, or delete with a way back."""
    conversation_id, change = call.path("conversation_id"), await call.body(Change)
    await call.house.services.store.conversations.update(
        conversation_id, call.user_id, **msgspec.to_builtins(change)
    )
    if change.title is not UNSET:
        call.house.runner.tell_title(call.user_id, conversation_id, change.title)
    if change.is_visible is False:
        await call.house.runner.stop(call.user_id, conversation_id)
    return answer({"success": True})


@endpoint("DELETE", "/backend-api/conversation/{conversation_id}", Access.PERSON)
async def delete_conversation(call: Call) -> Response:
    """Delete a conversation and everything that was said in it, for good."""
    conversation_id = call.path("conversation_id")
    await call.house.services.store.conversations.delete(conversation_id, call.user_id)
    await call.house.runner.stop(call.user_id, conversation_id)
    return Response(status_code=NOTHING)


def _line(line: ConversationLine) -> dict[str, object]:
    shown = {
        "id": line.id,
        "title": line.title,
        "create_time": line.created_at,
        "update_time": line.updated_at,
        "is_archived": line.is_archived,
        "is_pinned": line.is_pinned,
        "folder_id": line.folder_id,
    }
    found = line.found
    return {**shown, "snippet": found.snippet, "message_id": found.message_id} if found else shown
