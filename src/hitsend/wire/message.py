"""The Message object people know from ChatGPT's web API, made from what was said.

Stored and streamed messages come out of the same function, so they cannot differ.
"""

from collections.abc import Iterable
from typing import Literal, Self, TypeAlias, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import Ending, TurnStarted
from hitsend.messages import (
    Feedback,
    Part,
    Role,
    Seen,
    Source,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from hitsend.transcript import Said, Status
from hitsend.wire.problem import Problem

WireStatus: TypeAlias = Literal[
    "in_progress", "finished_successfully", "finished_partial_completion", "failed"
]
FinishType: TypeAlias = Literal["stop", "max_tokens", "interrupted", "tool_calls", "failed"]

STATUS: dict[Status, WireStatus] = {
    "in_progress": "in_progress",
    "finished": "finished_successfully",
    "partial": "finished_partial_completion",
    "failed": "failed",
}
FINISH: dict[Ending, FinishType] = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "stopped": "interrupted",
    "interrupted": "interrupted",
    "failed": "failed",
}


class Origin(msgspec.Struct, frozen=True):
    """Where a message came from: what is true of it besides what was said."""

    turn_id: str | None
    """None where there is no turn to look into, or none that the reader may look into."""
    model: str
    created_at: float | None
    feedback: Feedback | None = None

    @classmethod
    def of(cls, turn: TurnStarted) -> Self:
        return cls(turn.turn_id, turn.model, turn.created_at)


class Author(msgspec.Struct, frozen=True):
    role: Role
    name: None = None
    metadata: dict[str, str] = {}


class Content(msgspec.Struct, frozen=True):
    parts: tuple[str]
    content_type: Literal["text"] = "text"


class FinishDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    type: FinishType
    reason: Ending
    """What we call it: `interrupted` may be the person's doing or ours."""
    message: str | None = None
    """Why it failed, as the person was told."""


class Closing(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a message only once it has ended."""

    finish_details: FinishDetails | UnsetType = UNSET
    is_complete: bool | UnsetType = UNSET
    token_count: int | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET


class Metadata(Closing, frozen=True, kw_only=True):
    parent_id: str | None
    turn_exchange_id: str | UnsetType = UNSET
    model_slug: str | UnsetType = UNSET
    tool_calls: tuple[ToolCall, ...] | UnsetType = UNSET
    feedback: Feedback | UnsetType = UNSET
    seen: Seen | UnsetType = UNSET
    is_visually_hidden_from_conversation: bool | UnsetType = UNSET
    seen_source: Source | UnsetType = UNSET
    """Of a hidden message: which part of the prompt it stands for."""
    seen_ids: tuple[str, ...] | UnsetType = UNSET


class WireMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    author: Author
    create_time: float | None
    update_time: None = None
    content: Content
    status: WireStatus
    end_turn: Literal[True] | None
    weight: float = 1.0
    metadata: Metadata
    recipient: Literal["all"] = "all"
    channel: Literal["final"] | None


class Envelope(msgspec.Struct, frozen=True):
    """A message as it travels."""

    message: WireMessage | None
    """None when a turn failed before anything was said."""
    conversation_id: str
    error: Problem | None = None


def message(said: Said, origin: Origin) -> WireMessage:
    is_answer = said.role == "assistant"
    return WireMessage(
        id=said.message_id,
        author=Author(said.role),
        create_time=origin.created_at,
        content=Content((said.text if is_answer else text_of(said.parts),)),
        status=STATUS[said.status],
        end_turn=end_turn(said),
        metadata=Metadata(
            parent_id=said.parent_id,
            turn_exchange_id=origin.turn_id or UNSET,
            model_slug=origin.model if is_answer else UNSET,
            tool_calls=tool_calls(said) or UNSET,
            feedback=origin.feedback or UNSET,
            seen=said.seen or UNSET,
            **msgspec.structs.asdict(closing(said)),
        ),
        channel="final" if is_answer else None,
    )


def text_of(parts: Iterable[Part]) -> str:
    """What a person reads of it: the words, and what a tool brought back."""
    return "".join(_shown(part) for part in parts)


def _shown(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case ToolResult(output=output):
            return output
        case ToolCall():
            return ""
        case _:
            assert_never(part)


def tool_calls(said: Said) -> tuple[ToolCall, ...]:
    return tuple(part for part in said.parts if isinstance(part, ToolCall))


def end_turn(said: Said) -> Literal[True] | None:
    """True of the answer that ends its turn: after a tool call another one follows."""
    return None if said.ending in (None, "tool_calls") else True


def closing(said: Said) -> Closing:
    """Empty for a message that has no ending: one being written, or a person's."""
    if said.ending is None:
        return Closing()
    return Closing(
        finish_details=FinishDetails(FINISH[said.ending], said.ending, said.problem),
        is_complete=said.status == "finished",
        token_count=said.usage.num_output_tokens if said.usage else UNSET,
        usage=said.usage or UNSET,
    )
