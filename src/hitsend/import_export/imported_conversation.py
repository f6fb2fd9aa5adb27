"""The result of reading a file: conversations to store, and what was left out."""

from typing import Literal, TypeAlias, assert_never

import msgspec

from hitsend.events import Ending
from hitsend.messages import Attachment, ToolCall, ToolResult

OtherPart: TypeAlias = ToolCall | ToolResult | Attachment
Source: TypeAlias = Literal["chatgpt", "open_webui", "hitsend"]


class ImportedMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    """The id in the file, unique only within its conversation."""
    parent_id: str | None
    role: Literal["user", "assistant", "tool"]
    text: str
    other_parts: tuple[OtherPart, ...] = ()
    """Calls of an answer, the result that a tool's message holds, or what a person attached. Only
    our exports have them."""
    created_at: float
    model: str | None = None
    """The model that answered. None for a message of the user."""
    ending: Ending | None = None
    """How the answer ended. None for a message of the user."""
    problem: str | None = None

    @property
    def num_bytes(self) -> int:
        written = map(text_of, self.other_parts)
        return len(self.text.encode()) + sum(len(text.encode()) for text in written)


def text_of(part: OtherPart) -> str:
    match part:
        case ToolCall(arguments=text) | ToolResult(output=text) | Attachment(text=text):
            return text
        case _:
            assert_never(part)


class ImportedConversation(msgspec.Struct, frozen=True, kw_only=True):
    source_id: str
    """The conversation's id in the file, the same in every import."""
    title: str
    created_at: float
    updated_at: float
    current_node: str
    is_archived: bool = False
    is_pinned: bool = False
    folder: str | None = None
    messages: tuple[ImportedMessage, ...]
    """Each after the one it follows; siblings in their order."""

    @property
    def num_bytes(self) -> int:
        return sum(message.num_bytes for message in self.messages)


class LeftOut(msgspec.Struct, frozen=True):
    """A conversation that was not imported."""

    title: str
    why: str


class PartsLeftOut(msgspec.Struct):
    """Counts of message parts that are not imported."""

    images: int = 0
    files: int = 0
    tools: int = 0
    other: int = 0


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading a file. With a problem, nothing is imported."""

    source: Source = "hitsend"
    left_out: tuple[LeftOut, ...] = ()
    num_parts_left_out: PartsLeftOut = msgspec.field(default_factory=PartsLeftOut)
    problem: str | None = None
    is_ours: bool = False
    """The problem is of this machine, not of the file."""
