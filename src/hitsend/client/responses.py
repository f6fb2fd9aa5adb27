"""The parts of models and messages that this client uses; `wire` has the other responses.

These leave out fields that it does not use: their types may get new values in a newer server,
which must not make a message unreadable.
"""

from typing import Literal

import msgspec

from hitsend.messages import Role, Usage
from hitsend.safety.redaction import Redaction
from hitsend.wire.message import FinishDetails
from hitsend.wire.responses import Running


class Model(msgspec.Struct, frozen=True):
    name: str
    title: str
    num_window_tokens: int
    where: Literal["here", "remote"]
    is_default: bool = False


class ModelList(msgspec.Struct, frozen=True):
    models: tuple[Model, ...]
    default_model: str | None


class FeatureTool(msgspec.Struct, frozen=True):
    name: str
    description: str


class Feature(msgspec.Struct, frozen=True):
    """What can be turned on for a message."""

    name: str
    tools: tuple[FeatureTool, ...]


class FeatureList(msgspec.Struct, frozen=True):
    features: tuple[Feature, ...]


class Author(msgspec.Struct, frozen=True):
    role: Role


class Content(msgspec.Struct, frozen=True):
    parts: tuple[str, ...]


class ToolCall(msgspec.Struct, frozen=True):
    call_id: str
    tool: str
    arguments: str = "{}"
    """A JSON object, as the model wrote it."""


class Approval(msgspec.Struct, frozen=True):
    """A question to the person whether a call may run."""

    reason: str
    """`writes`, or `untrusted` after the model has read what strangers wrote."""
    decision: str | None = None
    """None while the person has not decided. `expired`: nobody did before the turn ended."""


class Form(msgspec.Struct, frozen=True):
    """Something that a tool asks the person while it runs."""

    form_id: str
    message: str
    schema: str
    """JSON Schema of a flat object, as JSON."""
    action: str | None = None
    """None while the person has not answered."""


class ToolResult(msgspec.Struct, frozen=True):
    """What the message of a tool says besides its text, the output."""

    call_id: str = ""
    tool: str = ""
    server: str = ""
    """The title of the MCP server that has it. Empty for hitsend's own."""
    failed: bool = False
    progress: str = ""
    """What it has reported so far."""
    approval: Approval | None = None
    form: Form | None = None

    @property
    def is_undecided(self) -> bool:
        return self.approval is not None and self.approval.decision in (None, "expired")


class SafetyReason(msgspec.Struct, frozen=True):
    layer: str
    """Which check found it, such as `rule` or `classifier`."""
    name: str
    """What was found: a category, a kind of data or of leak, or the id of a rule."""
    score: float | None = None


class Safety(msgspec.Struct, frozen=True):
    """What the server's safety checks made of a message."""

    outcome: str
    """`allow`, `redact`, `caution`, `rewrite`, `review`, `cut` or `block`."""
    reasons: tuple[SafetyReason, ...] = ()
    """The one that decided comes first."""
    is_complete: bool = True
    """False if not all of it could be checked."""
    has_help: bool = False
    """The person may need people to talk to."""


class Metadata(msgspec.Struct, frozen=True):
    turn_exchange_id: str = ""
    """Empty for an imported message: it has no turn."""
    parent_id: str | None = None
    model_slug: str | None = None
    usage: Usage | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_result: ToolResult | None = None
    finish_details: FinishDetails | None = None
    """None for an answer in progress, and for messages of users."""
    safety: Safety | None = None
    """None if there is nothing to say."""
    redactions: tuple[Redaction, ...] = ()
    """What the placeholders in the text stand for. The model sees the placeholders."""
    is_visually_hidden_from_conversation: bool = False
    """A part of the prompt, not a message of the conversation."""


class Message(msgspec.Struct, frozen=True):
    """A message. `status` is the server's word."""

    id: str
    author: Author
    content: Content
    status: str
    metadata: Metadata

    @property
    def text(self) -> str:
        return "".join(self.content.parts)

    @property
    def is_blocked(self) -> bool:
        """Whether the safety checks ended the answer, or answered in place of the model."""
        details = self.metadata.finish_details
        return details is not None and details.reason == "blocked"


class Envelope(msgspec.Struct, frozen=True):
    """A message with its conversation, as streamed."""

    message: Message
    conversation_id: str


class Node(msgspec.Struct, frozen=True):
    """A message and its place in the conversation's tree."""

    id: str
    parent: str | None
    children: tuple[str, ...]
    message: Message | None


class Conversation(msgspec.Struct, frozen=True):
    conversation_id: str
    title: str
    current_node: str | None
    mapping: dict[str, Node]
    running: Running | None = None

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        """What the placeholders in all messages stand for: see `restore`."""
        messages = (node.message for node in self.mapping.values() if node.message)
        return tuple(one for message in messages for one in message.metadata.redactions)

    def path(self) -> list[Message]:
        """Returns the shown branch, first message first."""
        found: list[Message] = []
        at = self.current_node
        while at is not None and (node := self.mapping.get(at)) is not None:
            if node.message is not None:
                found.append(node.message)
            at = node.parent
        return found[::-1]
