"""Parses conversations in the format of Open WebUI exports: its chat records, as JSON.

Only `parentId` is used: real exports lack children, and older ones have no tree at all.
"""

import re

import msgspec

from hitsend.errors import BadImport
from hitsend.import_export.fields import (
    ForeignTime,
    check_text,
    clean_label,
    parse_time,
    pick_title,
)
from hitsend.import_export.imported_conversation import ImportedConversation, PartsLeftOut
from hitsend.import_export.normalize_tree import KeptMessage, Node, normalize_tree

DETAILS = re.compile(r'<details type="(\w+)"[^>]*>.*?</details>\n*', re.DOTALL)
"""Reasoning and tool calls, which Open WebUI stores inside the answer text."""


class Piece(msgspec.Struct, frozen=True):
    """A part of a content, or an attached file."""

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
    """A chat with its metadata. The oldest exports have only the chat."""

    chat: Chat | None = None
    id: str | None = None
    created_at: ForeignTime = None
    updated_at: ForeignTime = None
    archived: bool | None = None
    pinned: bool | None = None


def read_open_webui(
    raw: bytes, fallback_id: str, now: float, left: PartsLeftOut
) -> ImportedConversation | None:
    """Returns None for an empty chat. `fallback_id` is used if the file has no id."""
    record = msgspec.json.decode(raw, type=Record)
    chat = record.chat or record
    messages, current = _list_messages(chat)
    nodes = {node_id: _build_node(message, chat, left) for node_id, message in messages.items()}
    created_at = parse_time(record.created_at)
    began = parse_time(chat.timestamp) if created_at is None else created_at
    tree = normalize_tree(nodes, current, now if began is None else began)
    if tree.current_node is None:
        return None
    updated_at = parse_time(record.updated_at)
    last = max(message.created_at for message in tree.messages)
    return ImportedConversation(
        source_id=record.id or fallback_id,
        title=pick_title(record.title or chat.title, tree.messages[0].text),
        created_at=tree.messages[0].created_at if began is None else began,
        updated_at=last if updated_at is None else updated_at,
        current_node=tree.current_node,
        is_archived=bool(record.archived),
        is_pinned=bool(record.pinned),
        messages=tree.messages,
    )


def _list_messages(chat: Chat) -> tuple[dict[str, ForeignMessage], str | None]:
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


def _build_node(message: ForeignMessage, chat: Chat, left: PartsLeftOut) -> Node:
    return Node(
        message.parent_id or None,
        _read_message(message, chat, left),
        parse_time(message.timestamp),
        message.children_ids or (),
    )


def _read_message(message: ForeignMessage, chat: Chat, left: PartsLeftOut) -> KeptMessage | None:
    text = check_text(_read_text(message, left))
    if message.role == "user":
        return KeptMessage("user", text) if text else None
    if message.role != "assistant":
        left.tools += message.role == "tool"
        left.other += message.role != "tool" and text != ""
        return None
    answer = DETAILS.sub(lambda found: _count_details(found, left), text)
    model = message.model or next(iter(chat.models or ()), None)
    return KeptMessage("assistant", answer, clean_label(model) or "", "stop") if answer else None


def _count_details(found: re.Match[str], left: PartsLeftOut) -> str:
    if found[1] == "reasoning":
        left.other += 1
    else:
        left.tools += 1
    return ""


def _read_text(message: ForeignMessage, left: PartsLeftOut) -> str:
    pieces = message.content if isinstance(message.content, list) else []
    attached = [*(piece for piece in pieces if piece.text is None), *(message.files or ())]
    num_images = sum((piece.type or "").startswith("image") for piece in attached)
    left.images += num_images
    left.files += len(attached) - num_images
    placeholder = "[image]" if num_images else "[file]" if attached else ""
    if isinstance(message.content, str):
        return message.content or placeholder
    return "\n\n".join(piece.text for piece in pieces if piece.text) or placeholder
