"""Side events: the frames of a v1 stream that are not deltas. Each has a `type`; readers skip
unknown types. None of them changes the deltas' carry."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import Delay
from hitsend.messages import Usage
from hitsend.wire.delta import Carry
from hitsend.wire.message import Envelope, WireMessage

Marker: TypeAlias = Literal["user_visible_token", "last_token"]
MarkerPosition: TypeAlias = Literal["first", "last"]
WarmupState: TypeAlias = Literal["cold", "warming", "warm"]


class InputMessage(msgspec.Struct, frozen=True, tag_field="type", tag="input_message"):
    """The user's message as stored."""

    input_message: WireMessage
    conversation_id: str


class MessageMarker(msgspec.Struct, frozen=True, tag_field="type", tag="message_marker"):
    conversation_id: str
    message_id: str
    marker: Marker
    event: MarkerPosition


class AnswerDelayed(msgspec.Struct, frozen=True, tag_field="type", tag="answer_delayed"):
    """The answer waits in the queue, or for its model to load."""

    reason: Delay
    num_ahead: int


class StoreDelayed(msgspec.Struct, frozen=True, tag_field="type", tag="store_delayed"):
    """The answer waits, because it cannot be stored: no reader sees a word before that. Comes with
    each heartbeat while it lasts, and has no number."""

    code: str
    """`disk_full`, `database_damaged` or `store_down`."""
    message: str


class ModerationResponse(msgspec.Struct, frozen=True):
    flagged: bool
    blocked: bool
    categories: tuple[str, ...]


class Moderation(msgspec.Struct, frozen=True, tag_field="type", tag="moderation"):
    """The safety checks found something in a message. Its metadata has more (`safety`)."""

    conversation_id: str
    message_id: str
    stage: Literal["input", "output"]
    moderation_response: ModerationResponse


class TitleGeneration(msgspec.Struct, frozen=True, tag_field="type", tag="title_generation"):
    title: str
    conversation_id: str
    revision: int


class TurnMetadata(msgspec.Struct, frozen=True):
    model_slug: str
    is_first_turn: bool
    turn_exchange_id: str
    message_id: str | None
    usage: Usage | None
    ttft_ms: float | None
    """From Send to the first visible character."""
    sampling: dict[str, object]
    """The parameters that were set."""
    conduit_prewarmed: bool
    """Prefilled tokens were in the KV cache when the answer began."""
    warmup_state: WarmupState
    saved_ms: float | None
    """Waiting time saved by prewarming. None without prewarming."""
    resume_with_websockets: bool = True
    request_id: str | UnsetType = UNSET
    turn_trace_id: str | UnsetType = UNSET
    cluster_region: str | UnsetType = UNSET


class ServerMetadata(msgspec.Struct, frozen=True, tag_field="type", tag="server_ste_metadata"):
    metadata: TurnMetadata
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
    """Length of a message's text in code points, and SHA-256 of its UTF-8. Readers verify the
    text they assembled with it."""

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
    has_afterword: bool | UnsetType = UNSET
    """Set if a title or a suggested memory may follow. `[DONE]` does not wait for them: they come
    over the socket, and with `GET …/events?afterword=true`."""


class ResumeToken(msgspec.Struct, frozen=True, tag_field="type", tag="resume_conversation_token"):
    """Lets the reader resume this stream after a cut."""

    token: str
    conversation_id: str
    turn_exchange_id: str
    expires_at: float
    kind: Literal["topic"] = "topic"


class StreamResumed(
    msgspec.Struct, frozen=True, tag_field="type", tag="stream_resumed", rename={"first": "from"}
):
    """The stream continues with event `first`. The next delta may omit the fields of `carry`."""

    conversation_id: str
    turn_exchange_id: str
    first: int
    carry: Carry


class StreamSnapshot(msgspec.Struct, frozen=True, tag_field="type", tag="stream_snapshot"):
    """The state of every channel after event `seq`, in place of the deltas up to there."""

    conversation_id: str
    turn_exchange_id: str
    seq: int
    channels: dict[str, Envelope]
    carry: Carry


Opening: TypeAlias = StreamResumed | StreamSnapshot
"""The first event of a resumed stream."""

SideEvent: TypeAlias = (
    InputMessage
    | MessageMarker
    | AnswerDelayed
    | StoreDelayed
    | Moderation
    | TitleGeneration
    | ServerMetadata
    | StreamError
    | StreamComplete
    | ResumeToken
    | Opening
)
