"""Conversations as ChatGPT exports them. Ours are of the same shape, and say so.

There is no description of the format by those who make it: this is what real exports hold. Much
in them was never shown to anyone (instructions, calls of tools, thoughts): that is left out.
"""

import re

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import Ending
from hitsend.takeout.clean import (
    ForeignTime,
    clean_label,
    clean_problem,
    clean_text,
    clean_time,
    clean_title,
    fenced,
)
from hitsend.takeout.taken import PartsLeftOut, TakenConversation
from hitsend.takeout.tree import Node, Spoken, grow

OURS = "hitsend"

CITATION = re.compile("\ue200\\w+\ue202[^\ue201]*\ue201")
"""A place where ChatGPT's own page draws a link. Elsewhere it reads as rubbish."""

ENDINGS: dict[str, Ending] = {"max_tokens": "length", "interrupted": "stopped"}
OUR_ENDINGS: dict[str, Ending] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "failed": "failed",
}


class Asset(msgspec.Struct, frozen=True):
    content_type: str | None = None
    text: str | None = None


class Content(msgspec.Struct, frozen=True):
    content_type: str | None = "text"
    parts: list[str | Asset | None] | None = None
    text: str | None = None
    language: str | None = None


class Author(msgspec.Struct, frozen=True):
    role: str | None = None


class Attachment(msgspec.Struct, frozen=True):
    mime_type: str | None = None


class FinishDetails(msgspec.Struct, frozen=True):
    type: str | None = None
    reason: str | None = None
    message: str | None = None


class Metadata(msgspec.Struct, frozen=True):
    is_visually_hidden_from_conversation: bool | None = None
    model_slug: str | None = None
    attachments: list[Attachment] | None = None
    finish_details: FinishDetails | None = None


class ForeignMessage(msgspec.Struct, frozen=True):
    author: Author | None = None
    create_time: ForeignTime = None
    content: Content | None = None
    weight: float | None = None
    recipient: str | None = None
    channel: str | None = None
    metadata: Metadata | None = None


class ForeignNode(msgspec.Struct, frozen=True):
    parent: str | None | UnsetType = UNSET
    children: list[str] | None = None
    message: ForeignMessage | None = None


class ForeignConversation(msgspec.Struct, frozen=True):
    mapping: dict[str, ForeignNode]
    title: str | None = None
    create_time: ForeignTime = None
    update_time: ForeignTime = None
    current_node: str | None = None
    conversation_id: str | None = None
    id: str | None = None
    default_model_slug: str | None = None
    is_archived: bool | None = None
    is_starred: bool | None = None
    is_pinned: bool | None = None
    folder: str | None = None
    exported_by: str | None = None


def read_chatgpt(
    raw: bytes, own_id: str, now: float, left: PartsLeftOut
) -> TakenConversation | None:
    """None where nothing was said. `own_id` is for a conversation that has no id."""
    foreign = msgspec.json.decode(raw, type=ForeignConversation)
    is_ours = foreign.exported_by == OURS
    parents = {
        child: node_id for node_id, node in foreign.mapping.items() for child in node.children or ()
    }
    nodes: dict[str, Node] = {}
    for node_id, node in foreign.mapping.items():
        # Some programs that write this shape leave it to the parents to know their children.
        parent = parents.get(node_id) if node.parent is UNSET else node.parent
        spoken, created_at = _message(node.message, foreign, is_ours, left)
        nodes[node_id] = Node(parent, spoken, created_at, node.children or ())
    created_at = clean_time(foreign.create_time)
    began = now if created_at is None else created_at
    tree = grow(nodes, foreign.current_node, began, joins_answers=not is_ours)
    if tree.current_node is None:
        return None
    updated_at = clean_time(foreign.update_time)
    last = max(message.created_at for message in tree.messages)
    return TakenConversation(
        source_id=foreign.conversation_id or foreign.id or own_id,
        title=clean_title(foreign.title, tree.messages[0].text),
        created_at=tree.messages[0].created_at if created_at is None else created_at,
        updated_at=last if updated_at is None else updated_at,
        current_node=tree.current_node,
        is_archived=bool(foreign.is_archived),
        is_pinned=bool(foreign.is_pinned or foreign.is_starred),
        folder=clean_label(foreign.folder) if is_ours else None,
        messages=tree.messages,
    )


def _message(
    message: ForeignMessage | None,
    conversation: ForeignConversation,
    is_ours: bool,
    left: PartsLeftOut,
) -> tuple[Spoken | None, float | None]:
    if message is None:
        return None, None
    spoken = _own(message, left) if is_ours else _spoken(message, conversation, left)
    return spoken, clean_time(message.create_time)


def _own(message: ForeignMessage, left: PartsLeftOut) -> Spoken | None:
    role = message.author.role if message.author else None
    text = clean_text("".join(_strings(message.content)))
    if role == "user":
        return Spoken("user", text)
    if role != "assistant":
        left.tools += 1
        return None
    metadata = message.metadata or Metadata()
    details = metadata.finish_details or FinishDetails()
    # Without an end it was still being written when it was exported.
    ending = OUR_ENDINGS.get(details.reason or "", "interrupted")
    model, problem = clean_label(metadata.model_slug) or "", clean_problem(details.message)
    return Spoken("assistant", text, model, ending, problem)


def _spoken(
    message: ForeignMessage, conversation: ForeignConversation, left: PartsLeftOut
) -> Spoken | None:
    role = message.author.role if message.author else None
    metadata = message.metadata or Metadata()
    if role == "tool" or message.recipient not in (None, "all"):
        _count_tool(message, left)
        return None
    if role not in ("user", "assistant") or _is_hidden(message, metadata):
        left.other += any(text.strip() for text in _strings(message.content))
        return None
    text = _text(message, metadata, left)
    if not text:
        return None
    if role == "user":
        return Spoken("user", text)
    details = metadata.finish_details or FinishDetails()
    model = clean_label(metadata.model_slug or conversation.default_model_slug) or ""
    return Spoken("assistant", text, model, ENDINGS.get(details.type or "", "stop"))


def _is_hidden(message: ForeignMessage, metadata: Metadata) -> bool:
    return (
        bool(metadata.is_visually_hidden_from_conversation)
        or message.weight == 0
        or message.channel == "analysis"
    )


def _count_tool(message: ForeignMessage, left: PartsLeftOut) -> None:
    """A picture that a tool drew counts as a picture."""
    num_images = sum(_is_image(asset) for asset in _assets(message.content))
    left.images += num_images
    left.tools += num_images == 0


def _text(message: ForeignMessage, metadata: Metadata, left: PartsLeftOut) -> str:
    content = message.content or Content()
    stand_in = _count_assets(content, metadata, left)
    if content.content_type == "code":
        code = clean_text(content.text or "\n".join(_strings(content)))
        language = content.language if content.language != "unknown" else None
        return fenced(code, clean_label(language) or "") if code else ""
    if content.content_type not in (None, "text", "multimodal_text"):
        left.other += 1
        return ""
    words = "\n\n".join(text for text in _strings(content) if text)
    return CITATION.sub("", clean_text(words)) or stand_in


def _count_assets(content: Content, metadata: Metadata, left: PartsLeftOut) -> str:
    """What is read in place of words where there are none but a picture or a file."""
    assets = [asset for asset in _assets(content) if asset.text is None]
    num_images = sum(_is_image(asset) for asset in assets)
    # Pictures that were sent along are attachments too.
    attached = [one.mime_type or "" for one in metadata.attachments or ()]
    num_files = len(assets) - num_images
    num_files += sum(not kind.startswith("image/") for kind in attached)
    left.images += num_images
    left.files += num_files
    return "[image]" if num_images else "[file]" if num_files else ""


def _strings(content: Content | None) -> list[str]:
    """The words among the parts: written, or spoken and written down."""
    parts = (content.parts if content else None) or ()
    said = (part.text if isinstance(part, Asset) else part for part in parts)
    return [text for text in said if text is not None]


def _assets(content: Content | None) -> list[Asset]:
    parts = (content.parts if content else None) or ()
    return [part for part in parts if isinstance(part, Asset)]


def _is_image(asset: Asset) -> bool:
    return asset.content_type == "image_asset_pointer"
