"""What came out of a file: conversations as they will be kept, and what was left behind."""

from typing import Literal, TypeAlias

import msgspec

from hitsend.events import Ending

Source: TypeAlias = Literal["chatgpt", "open_webui", "hitsend"]


class TakenMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    """As the file has it: known only within its conversation."""
    parent_id: str | None
    role: Literal["user", "assistant"]
    text: str
    created_at: float
    model: str | None = None
    """Who answered. None for what a person said."""
    ending: Ending | None = None
    """How the answer ended. None for what a person said."""
    problem: str | None = None


class TakenConversation(msgspec.Struct, frozen=True, kw_only=True):
    source_id: str
    """What it is called where it comes from: the same each time it is imported."""
    title: str
    created_at: float
    updated_at: float
    current_node: str
    is_archived: bool = False
    is_pinned: bool = False
    folder: str | None = None
    messages: tuple[TakenMessage, ...]
    """Each after the one it follows; siblings in their order."""


class LeftOut(msgspec.Struct, frozen=True):
    """A conversation that did not come along."""

    title: str
    why: str


class PartsLeftOut(msgspec.Struct):
    """Counted while reading: what stands in the file and is not kept."""

    images: int = 0
    files: int = 0
    tools: int = 0
    other: int = 0


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How reading a file went. With a problem, nothing of it is to be kept."""

    source: Source = "hitsend"
    left_out: tuple[LeftOut, ...] = ()
    num_parts_left_out: PartsLeftOut = msgspec.field(default_factory=PartsLeftOut)
    problem: str | None = None
    is_ours: bool = False
    """The problem is this machine's, and not the file's."""
