"""Stored conversations: list, get, change, delete, and rate their answers."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.messages import Feedback
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.conversation_tree import conversation_tree
from hitsend.store import ConversationItem
from hitsend.tools.code import Owner
from hitsend.wire.responses import ConversationPage, ConversationSummary

PATH = "/backend-api/conversation/{conversation_id}"
FEEDBACK_PATH = f"{PATH}/messages/{{message_id}}/feedback"
PAGE_SIZE = 28
MAX_PAGE_SIZE = 100
MAX_QUERY_CHARS = 200


class ConversationChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields that are left out stay unchanged."""

    title: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    is_pinned: bool | UnsetType = UNSET
    is_visible: bool | UnsetType = UNSET
    folder_id: str | None | UnsetType = UNSET
    current_node: str | UnsetType = UNSET


@endpoint("GET", "/backend-api/conversations", Access.READ)
async def list_conversations(call: Call) -> Response:
    """List conversations, newest first: by `is_archived`, `is_pinned`, `folder_id`, or `q`."""
    offset = call.query_int("offset", 0, maximum=1_000_000_000)
    limit = call.query_int("limit", PAGE_SIZE, maximum=MAX_PAGE_SIZE)
    conversations = call.app.services.store.conversations
    if query := call.request.query_params.get("q"):
        if len(query) > MAX_QUERY_CHARS:
            raise Refused(f"Search for at most {MAX_QUERY_CHARS} characters.", param="q")
        page = await conversations.search(call.user_id, query, offset=offset, limit=limit)
    else:
        page = await conversations.list(
            call.user_id,
            offset=offset,
            limit=limit,
            is_archived=_bool_param(call, "is_archived") or False,
            is_pinned=_bool_param(call, "is_pinned"),
            folder_id=_folder_param(call),
        )
    items = tuple(_item(line) for line in page.items)
    return json_response(
        ConversationPage(items=items, total=page.total, limit=limit, offset=offset)
    )


def _bool_param(call: Call, name: str) -> bool | None:
    match call.request.query_params.get(name):
        case None:
            return None
        case "true":
            return True
        case "false":
            return False
        case _:
            raise Refused(f"`{name}` has to be true or false.", param=name)


def _folder_param(call: Call) -> str | None | UnsetType:
    folder_id = call.request.query_params.get("folder_id", UNSET)
    return None if folder_id == "none" else folder_id


@endpoint("GET", PATH, Access.READ)
async def get_conversation(call: Call) -> Response:
    """Get a conversation with all its branches."""
    conversation = await call.app.services.store.conversations.get(
        call.path_param("conversation_id"), call.user_id
    )
    # In a thread: a long conversation takes tens of milliseconds.
    return await asyncio.to_thread(lambda: json_response(conversation_tree(conversation)))


@endpoint("PATCH", PATH, Access.CHAT_AND_READ)
async def change_conversation(call: Call) -> Response:
    """Rename, archive, pin, move to a folder, show another branch, or delete with an undo."""
    conversation_id, change = (
        call.path_param("conversation_id"),
        await call.read_body(ConversationChange),
    )
    await call.app.services.store.conversations.update(
        conversation_id, call.user_id, call.actor, **msgspec.to_builtins(change)
    )
    if change.title is not UNSET:
        call.app.runner.publish_title(call.user_id, conversation_id, change.title)
    if change.is_visible is False:
        await call.app.runner.stop(call.user_id, conversation_id)
    return json_response({"success": True})


@endpoint("DELETE", PATH, Access.CHAT_AND_READ)
async def delete_conversation(call: Call) -> Response:
    """Delete a conversation with all its messages, permanently."""
    conversation_id = call.path_param("conversation_id")
    await call.app.services.store.conversations.delete(conversation_id, call.user_id, call.actor)
    await call.app.runner.stop(call.user_id, conversation_id)
    if call.app.code is not None:
        await call.app.code.forget(Owner(call.user_id, conversation_id))
    return Response(status_code=NO_CONTENT)


@endpoint("PUT", FEEDBACK_PATH, Access.CHAT_AND_READ)
async def give_feedback(call: Call) -> Response:
    """Rate an answer. A new rating replaces the old one."""
    feedback = await call.read_body(Feedback)
    await call.app.services.store.feedback.set(*_message_ids(call), feedback)
    return Response(status_code=NO_CONTENT)


@endpoint("DELETE", FEEDBACK_PATH, Access.CHAT_AND_READ)
async def remove_feedback(call: Call) -> Response:
    """Remove a rating."""
    await call.app.services.store.feedback.remove(*_message_ids(call))
    return Response(status_code=NO_CONTENT)


def _message_ids(call: Call) -> tuple[str, str, str]:
    return call.path_param("conversation_id"), call.path_param("message_id"), call.user_id


def _item(line: ConversationItem) -> ConversationSummary:
    return ConversationSummary(
        id=line.id,
        title=line.title,
        create_time=line.created_at,
        update_time=line.updated_at,
        is_archived=line.is_archived,
        is_pinned=line.is_pinned,
        folder_id=line.folder_id,
        snippet=line.found.snippet if line.found else UNSET,
        message_id=line.found.message_id if line.found else UNSET,
    )
