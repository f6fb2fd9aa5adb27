"""Updates of a turn in progress. `Finished` is the last, except for a late title."""

from typing import TypeAlias

import msgspec

from hitsend.client.responses import Message
from hitsend.events import Delay
from hitsend.wire.side_events import Failure, StreamStatus


class Started(msgspec.Struct, frozen=True):
    """The message is stored; the turn now continues without a connection."""

    conversation_id: str
    turn_id: str


class Delayed(msgspec.Struct, frozen=True):
    """The answer waits. May come several times."""

    reason: Delay
    num_ahead: int


class Retrying(msgspec.Struct, frozen=True):
    """The connection was lost, or the server asked to wait. A retry follows; nothing is lost."""

    problem: str
    delay_s: float
    num_tries: int
    """Failures in a row."""


class TextAdded(msgspec.Struct, frozen=True):
    message_id: str
    text: str


class TextReplaced(msgspec.Struct, frozen=True):
    """The streamed text was damaged. This is the whole text as stored."""

    message_id: str
    text: str


class ToolCalled(msgspec.Struct, frozen=True):
    """The server runs a tool. The answer goes on in another message."""

    message_id: str
    """Of the message that will hold the result."""
    tool: str


class ToolReturned(msgspec.Struct, frozen=True):
    message_id: str
    tool: str
    output: str
    failed: bool


class Titled(msgspec.Struct, frozen=True):
    title: str


class Finished(msgspec.Struct, frozen=True):
    """The answer as stored, and how the turn ended."""

    message: Message | None
    """None if the turn failed before its answer started."""
    status: StreamStatus
    failure: Failure | None = None
    """Why it failed, in the server's words; None if it did not."""

    @property
    def text(self) -> str:
        return self.message.text if self.message else ""


Update: TypeAlias = (
    Started
    | Delayed
    | Retrying
    | TextAdded
    | TextReplaced
    | ToolCalled
    | ToolReturned
    | Titled
    | Finished
)
