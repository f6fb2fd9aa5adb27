"""What a v1 stream says besides its deltas. Each says its `type`; readers skip what they do
not know. None of them touches what the deltas carry over."""

from typing import Literal, TypeAlias

import msgspec

from hitsend.events import Delay
from hitsend.messages import Sampling, Usage
from hitsend.wire.delta import Carry
from hitsend.wire.message import Envelope, WireMessage

Marker: TypeAlias = Literal["user_visible_token", "last_token"]
Place: TypeAlias = Literal["first", "last"]
Warmup: TypeAlias = Literal["cold", "warming", "warm"]


class InputMessage(msgspec.Struct, frozen=True, tag_field="type", tag="input_message"):
    """What the person said, as it is stored."""

    input_message: WireMessage
    conversation_id: str


class MessageMarker(msgspec.Struct, frozen=True, tag_field="type", tag="message_marker"):
    conversation_id: str
    message_id: str
    marker: Marker
    event: Place


class AnswerDelayed(msgspec.Struct, frozen=True, tag_field="type", tag="answer_delayed"):
    """The answer waits: for its turn, or for its model."""

    reason: Delay
    num_ahead: int


class TitleGeneration(msgspec.Struct, frozen=True, tag_field="type", tag="title_generation"):
    title: str
    conversation_id: str
    revision: int


class TurnFacts(msgspec.Struct, frozen=True):
    model_slug: str
    is_first_turn: bool
    turn_exchange_id: str
    message_id: str | None
    usage: Usage | None
    ttft_ms: float | None
    """From Send to the first visible character."""
    sampling: Sampling
    conduit_prewarmed: bool
    """Some of the prompt was read, or was being read, before Send was pressed."""
    warmup_state: Warmup
    saved_ms: float | None
    """What reading ahead took of the wait. None where nothing was read ahead."""
    resume_with_websockets: bool = True


class ServerMetadata(msgspec.Struct, frozen=True, tag_field="type", tag="server_ste_metadata"):
    metadata: TurnFacts
    conversation_id: str


class Failure(msgspec.Struct, frozen=True):
    message: str
    type: str
    code: str
    param: str | None
    retryable: bool
    retry_after_ms: int | None


class StreamError(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    error: Failure
    conversation_id: str
    message_id: str | None


class Checksum(msgspec.Struct, frozen=True):
    """Lets a reader prove that it assembled the text: its length in code points, and the
    SHA-256 of its UTF-8."""

    id: str
    chars: int
    sha256: str


StreamStatus: TypeAlias = Literal[
    "finished_successfully", "finished_partial_completion", "interrupted", "failed"
]


class StreamComplete(msgspec.Struct, frozen=True, tag_field="type", tag="message_stream_complete"):
    conversation_id: str
    turn_exchange_id: str
    last_seq: int
    status: StreamStatus
    messages: tuple[Checksum, ...]


class ResumeToken(msgspec.Struct, frozen=True, tag_field="type", tag="resume_conversation_token"):
    """With it the reader comes back to this stream, from wherever it was cut off."""

    token: str
    conversation_id: str
    turn_exchange_id: str
    expires_at: float
    kind: Literal["topic"] = "topic"


class StreamResumed(
    msgspec.Struct, frozen=True, tag_field="type", tag="stream_resumed", rename={"first": "from"}
):
    """The stream goes on with event `first`. `carry` is what the next delta may leave out."""

    conversation_id: str
    turn_exchange_id: str
    first: int
    carry: Carry


class StreamSnapshot(msgspec.Struct, frozen=True, tag_field="type", tag="stream_snapshot"):
    """Every channel as it is after event `seq`, instead of the deltas that led there."""

    conversation_id: str
    turn_exchange_id: str
    seq: int
    channels: dict[str, Envelope]
    carry: Carry


Opening: TypeAlias = StreamResumed | StreamSnapshot
"""How a stream that was left goes on."""

Typed: TypeAlias = (
    InputMessage
    | MessageMarker
    | AnswerDelayed
    | TitleGeneration
    | ServerMetadata
    | StreamError
    | StreamComplete
    | ResumeToken
    | Opening
)
