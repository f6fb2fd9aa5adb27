"""Updates of a turn in progress. `Finished` is the last, except for a late title."""

from typing import TypeAlias

import msgspec

from hitsend.client.responses import Message, Safety
from hitsend.events import Delay
from hitsend.safety.redaction import Redaction
from hitsend.wire.side_events import Failure, StreamStatus


class Started(msgspec.Struct, frozen=True):
    """The message is stored; the turn now continues without a connection."""

    conversation_id: str
    turn_id: str


class Screened(msgspec.Struct, frozen=True):
    """The safety checks have something to say about the message that was sent."""

    message_id: str
    safety: Safety
    redactions: tuple[Redaction, ...]
    """What the placeholders in the message, and later in the answer, stand for."""


class Delayed(msgspec.Struct, frozen=True):
    """The answer waits. May come several times."""

    reason: Delay
    num_ahead: int


class StoreDelayed(msgspec.Struct, frozen=True):
    """The answer waits, because the server cannot store it. Comes again while that lasts."""

    code: str
    """`disk_full`, `database_damaged` or `store_down`."""
    message: str


class Retrying(msgspec.Struct, frozen=True):
    """The connection was lost, or the server asked to wait. A retry follows; nothing is lost."""

    problem: str
    delay_s: float
    num_tries: int
    """Failures in a row."""


class TextAdded(msgspec.Struct, frozen=True):
    message_id: str
    text: str


class TextCut(msgspec.Struct, frozen=True):
    """The safety checks took back the end of the text. Nothing follows it."""

    message_id: str
    text: str
    """What is left."""


class TextReplaced(msgspec.Struct, frozen=True):
    """The streamed text was damaged. This is the whole text as stored."""

    message_id: str
    text: str


class ToolCalled(msgspec.Struct, frozen=True):
    """The server runs a tool. The answer goes on in another message."""

    message_id: str
    """Of the message that will hold the result."""
    tool: str
    call_id: str = ""
    arguments: str = "{}"
    """A JSON object, as the model wrote it. Empty for a call of an earlier turn."""
    server: str = ""
    """The title of the MCP server that has it. Empty for hitsend's own."""


class ToolProgressed(msgspec.Struct, frozen=True):
    """A tool reported something while it runs."""

    message_id: str
    tool: str
    text: str
    """What is new."""


class ApprovalAsked(msgspec.Struct, frozen=True):
    """The call waits until the person allows it: see `Client.approve`."""

    message_id: str
    call_id: str
    tool: str
    arguments: str
    server: str
    reason: str
    """`writes`, or `untrusted` after the model has read what strangers wrote."""


class ApprovalDecided(msgspec.Struct, frozen=True):
    """The call was allowed or refused, here or elsewhere. `expired`: nobody did, and the turn ends;
    `Client.continue_answer` takes the verdict later."""

    call_id: str
    decision: str


class FormAsked(msgspec.Struct, frozen=True):
    """A tool asks the person something: see `Client.answer_form`."""

    message_id: str
    form_id: str
    tool: str
    message: str
    schema: str
    """JSON Schema of a flat object, as JSON."""


class FormAnswered(msgspec.Struct, frozen=True):
    form_id: str
    action: str


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

    @property
    def is_blocked(self) -> bool:
        """Whether the safety checks ended the answer, or answered in place of the model."""
        return self.message is not None and self.message.is_blocked


Update: TypeAlias = (
    Started
    | Screened
    | Delayed
    | StoreDelayed
    | Retrying
    | TextAdded
    | TextCut
    | TextReplaced
    | ToolCalled
    | ToolProgressed
    | ApprovalAsked
    | ApprovalDecided
    | FormAsked
    | FormAnswered
    | ToolReturned
    | Titled
    | Finished
)
