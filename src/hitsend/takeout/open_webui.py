"""Conversations as Open WebUI exports them: what its database holds of a chat, as JSON.

Only `parentId` is to be trusted: real exports lack children, and older ones have no tree at all.
"""

import re

import msgspec

from hitsend.errors import BadImport
from hitsend.takeout.clean import ForeignTime, clean_label, clean_text, clean_time, clean_title
from hitsend.takeout.taken import PartsLeftOut, TakenConversation
from hitsend.takeout.tree import Node, Spoken, grow

DETAILS = re.compile(r'<details type="(\w+)"[^>]*>.*?</details>\n*', re.DOTALL)
"""Thoughts and calls of tools, which it keeps among the words of an answer."""


class Piece(msgspec.Struct, frozen=True):
    """Of a content, or a file beside it."""

    type: str | None = None
    text: str | None = None


class ForeignMessage(msgspec.Struct, frozen=True, rename="camel"):
    id: str | None = None
    parent_id: str | None = None
    children_ids: list[str] | None = None
    role: str | None = None
    content: str | list[Piece] | None = None
    model: str | None = None
    timestamp: ForeignTime = None
    files: list[Piece] | None = None


class History(msgspec.Struct, frozen=True, rename="camel"):
    messages: dict[str, ForeignMessage] | None = None
    current_id: str | None = None


class Chat(msgspec.Struct, frozen=True):
    title: str | None = None
    models: list[str] | None = None
    history: History | None = None
    messages: list[ForeignMessage] | None = None
    timestamp: ForeignTime = None


class Record(Chat, frozen=True):
    """A chat with what is known of it. The oldest exports have the chat alone."""

    chat: Chat | None = None
    id: str | None = None
    created_at: ForeignTime = None
    updated_at: ForeignTime = None
    archived: bool | None = None
    pinned: bool | None = None


def read_open_webui(
    raw: bytes, own_id: str, now: float, left: PartsLeftOut
) -> TakenConversation | None:
    """None where nothing was said. `own_id` is for a chat that has no id."""
    record = msgspec.json.decode(raw, type=Record)
    chat = record.chat or record
    messages, current = _messages(chat)
    nodes = {node_id: _node(message, chat, left) for node_id, message in messages.items()}
    created_at = clean_time(record.created_at)
    began = clean_time(chat.timestamp) if created_at is None else created_at
    tree = grow(nodes, current, now if began is None else began)
    if tree.current_node is None:
        return None
    updated_at = clean_time(record.updated_at)
    last = max(message.created_at for message in tree.messages)
    return TakenConversation(
        source_id=record.id or own_id,
        title=clean_title(record.title or chat.title, tree.messages[0].text),
        created_at=tree.messages[0].created_at if began is None else began,
        updated_at=last if updated_at is None else updated_at,
        current_node=tree.current_node,
        is_archived=bool(record.archived),
        is_pinned=bool(record.pinned),
        messages=tree.messages,
    )


def _messages(chat: Chat) -> tuple[dict[str, ForeignMessage], str | None]:
    if chat.history and chat.history.messages:
        return chat.history.messages, chat.history.current_id
    listed: dict[str, ForeignMessage] = {}
    before: str | None = None
    for number, message in enumerate(chat.messages or ()):
        message_id = message.id or str(number)
        if message_id in listed:
            raise BadImport("Two of its messages have the same id.")
        parent_id = message.parent_id if message.id and message.parent_id else before
        listed[message_id] = msgspec.structs.replace(message, parent_id=parent_id)
        before = message_id
    return listed, before


def _node(message: ForeignMessage, chat: Chat, left: PartsLeftOut) -> Node:
    return Node(
        message.parent_id or None,
        _spoken(message, chat, left),
        clean_time(message.timestamp),
        message.children_ids or (),
    )


def _spoken(message: ForeignMessage, chat: Chat, left: PartsLeftOut) -> Spoken | None:
    text = clean_text(_words(message, left))
    if message.role == "user":
        return Spoken("user", text) if text else None
    if message.role != "assistant":
        left.tools += message.role == "tool"
        left.other += message.role != "tool" and text != ""
        return None
    said = DETAILS.sub(lambda found: _count_details(found, left), text)
    model = message.model or next(iter(chat.models or ()), None)
    return Spoken("assistant", said, clean_label(model) or "", "stop") if said else None


def _count_details(found: re.Match[str], left: PartsLeftOut) -> str:
    if found[1] == "reasoning":
        left.other += 1
    else:
        left.tools += 1
    return ""


def _words(message: ForeignMessage, left: PartsLeftOut) -> str:
    pieces = message.content if isinstance(message.content, list) else []
    beside = [*(piece for piece in pieces if piece.text is None), *(message.files or ())]
    num_images = sum((piece.type or "").startswith("image") for piece in beside)
    left.images += num_images
    left.files += len(beside) - num_images
    stand_in = "[image]" if num_images else "[file]" if beside else ""
    if isinstance(message.content, str):
        return message.content or stand_in
    return "\n\n".join(piece.text for piece in pieces if piece.text) or stand_in
