"""What a tool of ours is: something a model may ask for while it answers. Pure values; what a tool
does is its own affair."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import msgspec

from hitsend.context.notes import Note
from hitsend.events import AnyEvent
from hitsend.messages import ToolCall


class Done(msgspec.Struct, frozen=True):
    """What came of a call."""

    output: str
    notes: tuple[Note, ...] = ()
    """What the model is told of it, in front of the question."""
    events: tuple[AnyEvent, ...] = ()


Use: TypeAlias = Callable[[ToolCall], Awaitable[Done]]
"""Raises Refused where what was asked for is not done."""

Tools: TypeAlias = Mapping[str, Use]
"""By the names models call them."""
