"""The WebSocket protocol: commands from the page, frames to it. Pure values.

server/turns/socket checks permissions and order.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

from hitsend.errors import HitsendError, TooFast, Unavailable
from hitsend.wire.delta import Carry
from hitsend.wire.message import Envelope
from hitsend.wire.v1 import Item

PROTOCOL = "hitsend.v1"

Seq: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
ShortText: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Token: TypeAlias = Annotated[str, msgspec.Meta(max_length=4096)]
Offset: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^(\$|[0-9]{1,15})\Z")]
"""The last event the reader has; "0" for none, "$" for only what comes from now on."""
MessageKey: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[!-~]{1,200}\Z")]


class Presence(msgspec.Struct, frozen=True, tag="presence"):
    state: Literal["foreground", "background"] = "foreground"


class Command(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Base of the page's commands."""


class Connect(Command, frozen=True, tag="connect"):
    presence: Presence | None = None
    last_connection: ShortText | None = None
    """The connection this one replaces. The server closes it if it is still open."""


class Subscribe(Command, frozen=True, tag="subscribe"):
    topic_id: ShortText
    offset: Offset = "0"
    token: Token | None = None
    mode: Literal["compact"] | None = None


class Unsubscribe(Command, frozen=True, tag="unsubscribe"):
    topic_id: ShortText


class Ack(Command, frozen=True, tag="ack"):
    """Acknowledges every event up to `seq`."""

    topic_id: ShortText
    seq: Seq


class Nack(Command, frozen=True, tag="nack", rename={"first": "from", "last": "to"}):
    topic_id: ShortText
    first: Seq
    last: Seq
    reason: Literal["gap", "decode", "apply", "hash"]


class SendCommand(Command, frozen=True, tag="send"):
    client_msg_id: MessageKey
    body: msgspec.Raw
    """The body of a Send over HTTP. Parsed later, so a bad one fails only this command."""
    conduit_token: Token | None = None
    sentinel_token: Token | None = None
    device_id: ShortText | None = None
    """These three are headers over HTTP."""


class Stop(Command, frozen=True, tag="stop"):
    topic_id: ShortText


class Pong(Command, frozen=True, tag="pong"):
    t: int | None = None


RepliedCommand: TypeAlias = Connect | Subscribe | SendCommand | Stop
"""Commands that get a reply."""
AnyCommand: TypeAlias = RepliedCommand | Unsubscribe | Ack | Nack | Pong


class CommandFrame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: AnyCommand
    id: Seq | None = None
    """Chosen by the page; the answer carries it."""


class BadFrame(Exception):
    """Not a known command."""


def parse_commands(text: str) -> tuple[CommandFrame, ...]:
    """Returns the commands of a frame: one, or several in an array."""
    try:
        frames = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadFrame(str(error)) from None
    return (frames,) if isinstance(frames, CommandFrame) else frames


CommandFrames: TypeAlias = Annotated[tuple[CommandFrame, ...], msgspec.Meta(max_length=256)]
_decode = msgspec.json.Decoder(CommandFrame | CommandFrames).decode


class Frame(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of the server's frames."""


class ReplyFrame(Frame, frozen=True, tag="reply"):
    id: int
    reply: object
    ok: bool = True


class AckInterval(msgspec.Struct, frozen=True):
    """The page acknowledges after this many items or this much time."""

    every: int = 32
    ms: int = 250


class WindowSize(msgspec.Struct, frozen=True):
    items: int = 256
    bytes: int = 262_144


class ConnectReply(msgspec.Struct, frozen=True):
    connection_id: str
    heartbeat_ms: int
    ack: AckInterval
    window: WindowSize


class SubscribeReply(msgspec.Struct, frozen=True):
    topic_id: str
    first_seq: int
    last_seq: int
    catchups: list[msgspec.Raw]
    """The first of the missed message frames. The others follow."""
    carry: Carry


class SendReply(msgspec.Struct, frozen=True):
    conversation_id: str
    turn_exchange_id: str
    topic_id: str
    duplicate: bool
    """The message was sent before; the ids are those of the first time."""


class StreamItem(msgspec.Struct, frozen=True, tag_field="type", tag="stream-item"):
    conversation_id: str
    turn_id: str
    encoded_item: str
    """Server-sent events, with the same bytes as over HTTP."""


class TurnStream(msgspec.Struct, frozen=True, tag_field="type", tag="conversation-turn-stream"):
    payload: StreamItem


class MessageFrame(Frame, frozen=True, tag="message"):
    topic_id: str
    seq: int
    """The last event it covers."""
    n: int
    """How many it covers."""
    redelivery: bool
    payload: TurnStream


class SnapshotFrame(Frame, frozen=True, tag="snapshot"):
    topic_id: str
    seq: int
    channels: dict[str, Envelope]
    carry: Carry


class CommandError(msgspec.Struct, frozen=True):
    code: str
    message: str
    retryable: bool
    retry_after_ms: int | None


class NackFrame(Frame, frozen=True, tag="nack"):
    id: int | None
    """None when a topic failed without a command."""
    topic_id: str | None
    """The failed topic, if any."""
    error: CommandError


class PingFrame(Frame, frozen=True, tag="ping"):
    t: int


class TurnBegan(Frame, frozen=True, tag="turn_began"):
    conversation_id: str
    turn_exchange_id: str
    topic_id: str


class TurnEnded(Frame, frozen=True, tag="turn_ended"):
    conversation_id: str
    turn_exchange_id: str
    topic_id: str


class TitleChanged(Frame, frozen=True, tag="title_changed"):
    conversation_id: str
    title: str


News: TypeAlias = TurnBegan | TurnEnded | TitleChanged


class NewsFrame(Frame, frozen=True, tag="news"):
    news: News


AnyFrame: TypeAlias = MessageFrame | SnapshotFrame | ReplyFrame | NackFrame | NewsFrame | PingFrame


encode_frame = msgspec.json.Encoder().encode


def build_message_frame(
    topic_id: str, conversation_id: str, turn_id: str, item: Item
) -> MessageFrame:
    streamed = StreamItem(conversation_id, turn_id, item.data.decode())
    return MessageFrame(topic_id, item.seq, item.n, False, TurnStream(streamed))


def build_nack_frame(
    command_id: int | None, error: HitsendError, topic_id: str | None = None
) -> NackFrame:
    is_retryable = isinstance(error, Unavailable | TooFast)
    wait_ms = None if error.retry_after_s is None else round(error.retry_after_s * 1000)
    return NackFrame(
        command_id, topic_id, CommandError(error.code, error.message, is_retryable, wait_ms)
    )
