"""The Message object of ChatGPT's web API.

`build_message` makes stored and streamed messages alike, so they cannot differ.
"""

from collections.abc import Iterable
from typing import Literal, Self, TypeAlias, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import Ending, TurnStarted
from hitsend.messages import (
    Attachment,
    Feedback,
    Part,
    Role,
    Seen,
    Source,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
)
from hitsend.safety.policy import Screening
from hitsend.safety.redaction import Redaction
from hitsend.transcript import FoldedMessage, Status
from hitsend.wire.problem import Problem

WireStatus: TypeAlias = Literal[
    "in_progress", "finished_successfully", "finished_partial_completion", "failed"
]
FinishType: TypeAlias = Literal[
    "stop", "max_tokens", "interrupted", "tool_calls", "failed", "content_filter"
]

STATUSES: dict[Status, WireStatus] = {
    "in_progress": "in_progress",
    "finished": "finished_successfully",
    "partial": "finished_partial_completion",
    "failed": "failed",
}
FINISH_TYPES: dict[Ending, FinishType] = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "stopped": "interrupted",
    "interrupted": "interrupted",
    "failed": "failed",
    "blocked": "content_filter",
}


class Origin(msgspec.Struct, frozen=True):
    """The turn of a message, and what its events do not say."""

    turn_id: str | None
    """None for an imported message, and for a reader who may not inspect the turn."""
    model: str
    created_at: float | None
    feedback: Feedback | None = None

    @classmethod
    def from_turn(cls, turn: TurnStarted) -> Self:
        return cls(turn.turn_id, turn.model, turn.created_at)


class Author(msgspec.Struct, frozen=True):
    role: Role
    name: str | None = None
    """The tool, for the result of one."""
    metadata: dict[str, str] = {}


class Content(msgspec.Struct, frozen=True):
    parts: tuple[str]
    content_type: Literal["text"] = "text"


class FinishDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    type: FinishType
    reason: Ending
    """hitsend's own name: the type `interrupted` covers both `stopped` and `interrupted`."""
    message: str | None = None
    """Why it failed, in the words shown to the user."""


class EndMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """Metadata known only after the message has ended."""

    finish_details: FinishDetails | UnsetType = UNSET
    is_complete: bool | UnsetType = UNSET
    token_count: int | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET


class Metadata(EndMetadata, frozen=True, kw_only=True):
    parent_id: str | None
    turn_exchange_id: str | UnsetType = UNSET
    model_slug: str | UnsetType = UNSET
    tool_calls: tuple[ToolCall, ...] | UnsetType = UNSET
    tool_result: ToolResult | UnsetType = UNSET
    """For the result of a tool. Its output is the message's text."""
    thought: Thought | UnsetType = UNSET
    """What the model thought before its answer."""
    attachments: tuple[Attachment, ...] | UnsetType = UNSET
    """What the person attached to the message."""
    feedback: Feedback | UnsetType = UNSET
    seen: Seen | UnsetType = UNSET
    safety: Screening | UnsetType = UNSET
    """What the safety checks made of the message, if there is something to say."""
    redactions: tuple[Redaction, ...] | UnsetType = UNSET
    """What the placeholders in the text stand for. Only its owner gets it."""
    is_visually_hidden_from_conversation: bool | UnsetType = UNSET
    seen_source: Source | UnsetType = UNSET
    """For a hidden message: the part of the prompt it stands for."""
    seen_ids: tuple[str, ...] | UnsetType = UNSET


class WireMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    author: Author
    create_time: float | None
    update_time: None = None
    content: Content
    status: WireStatus
    end_turn: bool | None
    weight: float = 1.0
    metadata: Metadata
    recipient: Literal["all"] = "all"
    channel: Literal["final"] | None


class Envelope(msgspec.Struct, frozen=True):
    """A message with its conversation, as streamed."""

    message: WireMessage | None
    """None when a turn failed before its first message."""
    conversation_id: str
    error: Problem | None = None


def build_message(message: FoldedMessage, origin: Origin) -> WireMessage:
    is_answer = message.role == "assistant"
    result = get_tool_result(message)
    return WireMessage(
        id=message.message_id,
        author=Author(message.role, result.tool or None if result else None),
        create_time=origin.created_at,
        content=Content((message.text if is_answer else visible_text(message.parts),)),
        status=STATUSES[message.status],
        end_turn=end_turn_flag(message),
        metadata=Metadata(
            parent_id=message.parent_id,
            turn_exchange_id=origin.turn_id or UNSET,
            model_slug=origin.model if is_answer else UNSET,
            tool_calls=get_tool_calls(message) or UNSET,
            tool_result=result or UNSET,
            thought=get_thought(message) or UNSET,
            attachments=get_attachments(message) or UNSET,
            feedback=origin.feedback or UNSET,
            seen=message.seen or UNSET,
            safety=message.safety or UNSET,
            redactions=get_redactions(message) or UNSET,
            **msgspec.structs.asdict(build_end_metadata(message)),
        ),
        channel="final" if is_answer else None,
    )


def visible_text(parts: Iterable[Part]) -> str:
    """Joins the text and the tool outputs of the parts."""
    return "".join(_part_text(part) for part in parts)


def _part_text(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case ToolResult(output=output):
            return output
        case ToolCall() | Attachment() | Thought():
            return ""
        case _:
            assert_never(part)


def get_tool_calls(message: FoldedMessage) -> tuple[ToolCall, ...]:
    return tuple(part for part in message.parts if isinstance(part, ToolCall))


def get_thought(message: FoldedMessage) -> Thought | None:
    return next((part for part in message.parts if isinstance(part, Thought)), None)


def get_attachments(message: FoldedMessage) -> tuple[Attachment, ...]:
    return tuple(part for part in message.parts if isinstance(part, Attachment))


def get_redactions(message: FoldedMessage) -> tuple[Redaction, ...]:
    texts = (part for part in message.parts if isinstance(part, Text))
    return tuple(one for part in texts for one in part.redactions or ())


def get_tool_result(message: FoldedMessage) -> ToolResult | None:
    """Returns what a tool's message says besides its text."""
    if message.role != "tool" or not message.parts:
        return None
    result = message.parts[0]
    return msgspec.structs.replace(result, output="") if isinstance(result, ToolResult) else None


def end_turn_flag(message: FoldedMessage) -> bool | None:
    """True for the answer that ends its turn: after a tool call another answer follows."""
    return None if message.ending in (None, "tool_calls") else True


def build_end_metadata(message: FoldedMessage) -> EndMetadata:
    """Empty for a message without an ending: an answer in progress, or a user's."""
    if message.ending is None:
        return EndMetadata()
    return EndMetadata(
        finish_details=FinishDetails(FINISH_TYPES[message.ending], message.ending, message.problem),
        is_complete=message.status == "finished",
        token_count=message.usage.num_output_tokens if message.usage else UNSET,
        usage=message.usage or UNSET,
    )
