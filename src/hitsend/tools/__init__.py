"""Tools that a model may call while it answers. Each tool is a function that runs one call."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import msgspec

from hitsend.context.notes import Note
from hitsend.events import AnyEvent
from hitsend.messages import ToolCall

__all__ = ["CallResult", "Tool", "Tools"]


class CallResult(msgspec.Struct, frozen=True):
    output: str
    notes: tuple[Note, ...] = ()
    """Notes about the call, shown to the model in front of the question."""
    events: tuple[AnyEvent, ...] = ()


Tool: TypeAlias = Callable[[ToolCall], Awaitable[CallResult]]
"""Raises Refused when the call is not carried out."""

Tools: TypeAlias = Mapping[str, Tool]
"""By the name that the model calls."""
