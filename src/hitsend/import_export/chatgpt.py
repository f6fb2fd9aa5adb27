"""Parses conversations in the format of ChatGPT exports.

Our own exports use it too, marked `exported_by`. OpenAI does not document the format; this follows
real exports. Messages that were never shown (instructions, tool calls, reasoning) are left out; the
calls of our own exports, and their results, are kept.
"""

import re
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hitsend.events import Ending
from hitsend.import_export.fields import (
    ForeignTime,
    check_text,
    clean_label,
    clean_problem,
    fence_code,
    parse_time,
    pick_title,
)
from hitsend.import_export.imported_conversation import ImportedConversation, PartsLeftOut
from hitsend.import_export.normalize_tree import KeptMessage, Node, normalize_tree
from hitsend.messages import Attachment, CitedSource, ToolCall, ToolResult

EXPORTED_BY = "hitsend"

CITATION = re.compile("\ue200\\w+\ue202[^\ue201]*\ue201")
"""A citation mark, which only ChatGPT's page renders as a link."""

ENDINGS: dict[str, Ending] = {"max_tokens": "length", "interrupted": "stopped"}
OUR_ENDINGS: dict[str, Ending] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "failed": "failed",
}


CallId: TypeAlias = Annotated[str, Meta(max_length=100)]
ToolName: TypeAlias = Annotated[str, Meta(max_length=200)]


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


class ExportedAttachment(msgspec.Struct, frozen=True):
    """ChatGPT's have a type, ours all the rest."""

    mime_type: str | None = None
    title: str = ""
    server: str = ""
    uri: str = ""
    text: str = ""


class ExportedCall(msgspec.Struct, frozen=True):
    call_id: CallId
    tool: ToolName
    arguments: str
    is_partial: bool = False


class ExportedFile(msgspec.Struct, frozen=True):
    """Its content is beside the conversations, and is not imported."""


class ExportedResult(msgspec.Struct, frozen=True):
    call_id: CallId
    tool: ToolName = ""
    server: str = ""
    failed: bool = False
    sources: list[CitedSource] | None = None
    files: list[ExportedFile] | None = None


class FinishDetails(msgspec.Struct, frozen=True):
    type: str | None = None
    reason: str | None = None
    message: str | None = None


class Metadata(msgspec.Struct, frozen=True):
    is_visually_hidden_from_conversation: bool | None = None
    model_slug: str | None = None
    attachments: list[ExportedAttachment] | None = None
    finish_details: FinishDetails | None = None
    tool_calls: list[ExportedCall] | None = None
    tool_result: ExportedResult | None = None


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
    raw: bytes, fallback_id: str, now: float, left: PartsLeftOut
) -> ImportedConversation | None:
    """Returns None for an empty conversation. `fallback_id` is used if the file has no id."""
    foreign = msgspec.json.decode(raw, type=ForeignConversation)
    is_ours = foreign.exported_by == EXPORTED_BY
    parents = {
        child: node_id for node_id, node in foreign.mapping.items() for child in node.children or ()
    }
    nodes: dict[str, Node] = {}
    for node_id, node in foreign.mapping.items():
        # Some programs write only `children`, not `parent`.
        parent = parents.get(node_id) if node.parent is UNSET else node.parent
        kept, created_at = _read_message(node.message, foreign, is_ours, left)
        nodes[node_id] = Node(parent, kept, created_at, node.children or ())
    created_at = parse_time(foreign.create_time)
    began = now if created_at is None else created_at
    tree = normalize_tree(nodes, foreign.current_node, began, joins_answers=not is_ours)
    if tree.current_node is None:
        return None
    updated_at = parse_time(foreign.update_time)
    last = max(message.created_at for message in tree.messages)
    return ImportedConversation(
        source_id=foreign.conversation_id or foreign.id or fallback_id,
        title=pick_title(foreign.title, tree.messages[0].text),
        created_at=tree.messages[0].created_at if created_at is None else created_at,
        updated_at=last if updated_at is None else updated_at,
        current_node=tree.current_node,
        is_archived=bool(foreign.is_archived),
        is_pinned=bool(foreign.is_pinned or foreign.is_starred),
        folder=clean_label(foreign.folder) if is_ours else None,
        messages=tree.messages,
    )


def _read_message(
    message: ForeignMessage | None,
    conversation: ForeignConversation,
    is_ours: bool,
    left: PartsLeftOut,
) -> tuple[KeptMessage | None, float | None]:
    if message is None:
        return None, None
    kept = (
        _read_our_message(message, left)
        if is_ours
        else _read_their_message(message, conversation, left)
    )
    return kept, parse_time(message.create_time)


def _read_our_message(message: ForeignMessage, left: PartsLeftOut) -> KeptMessage | None:
    role = message.author.role if message.author else None
    text = check_text("".join(_strings(message.content)))
    metadata = message.metadata or Metadata()
    if role == "user":
        attached = tuple(_read_attachment(one) for one in metadata.attachments or () if one.text)
        return KeptMessage("user", text, other_parts=attached)
    if role == "tool" and metadata.tool_result:
        left.files += len(metadata.tool_result.files or ())
        return KeptMessage("tool", "", other_parts=(_read_result(metadata.tool_result, text),))
    if role != "assistant":
        left.tools += 1
        return None
    details = metadata.finish_details or FinishDetails()
    # An answer without an ending was still running when it was exported.
    ending = OUR_ENDINGS.get(details.reason or "", "interrupted")
    model, problem = clean_label(metadata.model_slug) or "", clean_problem(details.message)
    calls = tuple(_read_call(call) for call in metadata.tool_calls or () if not call.is_partial)
    return KeptMessage("assistant", text, model, ending, problem, calls)


def _read_attachment(attached: ExportedAttachment) -> Attachment:
    texts = (attached.title, attached.server, attached.uri, attached.text)
    return Attachment(*map(check_text, texts))


def _read_call(call: ExportedCall) -> ToolCall:
    arguments = check_text(call.arguments)
    return ToolCall(call.call_id, check_text(call.tool), arguments, is_hosted=True)


def _read_result(result: ExportedResult, output: str) -> ToolResult:
    """Anyone may have written the file, so the output counts as that of strangers."""
    return ToolResult(
        result.call_id,
        output,
        result.failed,
        tool=check_text(result.tool),
        server=check_text(result.server) or UNSET,
        is_untrusted=True,
        sources=tuple(result.sources or ()) or UNSET,
    )


def _read_their_message(
    message: ForeignMessage, conversation: ForeignConversation, left: PartsLeftOut
) -> KeptMessage | None:
    role = message.author.role if message.author else None
    metadata = message.metadata or Metadata()
    if role == "tool" or message.recipient not in (None, "all"):
        _count_tool(message, left)
        return None
    if role not in ("user", "assistant") or _is_hidden(message, metadata):
        left.other += any(text.strip() for text in _strings(message.content))
        return None
    text = _read_text(message, metadata, left)
    if not text:
        return None
    if role == "user":
        return KeptMessage("user", text)
    details = metadata.finish_details or FinishDetails()
    model = clean_label(metadata.model_slug or conversation.default_model_slug) or ""
    return KeptMessage("assistant", text, model, ENDINGS.get(details.type or "", "stop"))


def _is_hidden(message: ForeignMessage, metadata: Metadata) -> bool:
    return (
        bool(metadata.is_visually_hidden_from_conversation)
        or message.weight == 0
        or message.channel == "analysis"
    )


def _count_tool(message: ForeignMessage, left: PartsLeftOut) -> None:
    """An image that a tool made counts as an image."""
    num_images = sum(_is_image(asset) for asset in _assets(message.content))
    left.images += num_images
    left.tools += num_images == 0


def _read_text(message: ForeignMessage, metadata: Metadata, left: PartsLeftOut) -> str:
    content = message.content or Content()
    placeholder = _count_assets(content, metadata, left)
    if content.content_type == "code":
        code = check_text(content.text or "\n".join(_strings(content)))
        language = content.language if content.language != "unknown" else None
        return fence_code(code, clean_label(language) or "") if code else ""
    if content.content_type not in (None, "text", "multimodal_text"):
        left.other += 1
        return ""
    words = "\n\n".join(text for text in _strings(content) if text)
    return CITATION.sub("", check_text(words)) or placeholder


def _count_assets(content: Content, metadata: Metadata, left: PartsLeftOut) -> str:
    """Counts images and files. Returns a placeholder for a message that has no text."""
    assets = [asset for asset in _assets(content) if asset.text is None]
    num_images = sum(_is_image(asset) for asset in assets)
    # Uploaded images are listed as attachments too.
    attached = [one.mime_type or "" for one in metadata.attachments or ()]
    num_files = len(assets) - num_images
    num_files += sum(not kind.startswith("image/") for kind in attached)
    left.images += num_images
    left.files += num_files
    return "[image]" if num_images else "[file]" if num_files else ""


def _strings(content: Content | None) -> list[str]:
    """Returns the texts of the parts, including transcripts of speech."""
    parts = (content.parts if content else None) or ()
    texts = (part.text if isinstance(part, Asset) else part for part in parts)
    return [text for text in texts if text is not None]


def _assets(content: Content | None) -> list[Asset]:
    parts = (content.parts if content else None) or ()
    return [part for part in parts if isinstance(part, Asset)]


def _is_image(asset: Asset) -> bool:
    return asset.content_type == "image_asset_pointer"
