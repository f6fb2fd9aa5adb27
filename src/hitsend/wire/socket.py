"""What is said on a WebSocket, both ways: commands from the page, frames to it.

Pure values. Who may say what, and when, is the socket's affair.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

from hitsend.errors import HitsendError, TooFast, Unavailable
from hitsend.wire.delta import Carry
from hitsend.wire.message import Envelope
from hitsend.wire.v1 import Item

PROTOCOL = "hitsend.v1"

Seq: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Token: TypeAlias = Annotated[str, msgspec.Meta(max_length=4096)]
Offset: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^(\$|[0-9]{1,15})\Z")]
"""The last event the reader has; "0" for none of them, "$" for whatever comes from now on."""
MessageKey: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[!-~]{1,200}\Z")]


class Presence(msgspec.Struct, frozen=True, tag="presence"):
    state: Literal["foreground", "background"] = "foreground"


class Command(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """What the page wants."""


class Connect(Command, frozen=True, tag="connect"):
    presence: Presence | None = None
    last_connection: Name | None = None
    """The one this replaces. If it is still open, it is closed."""


class Subscribe(Command, frozen=True, tag="subscribe"):
    topic_id: Name
    offset: Offset = "0"
    token: Token | None = None
    mode: Literal["compact"] | None = None


class Unsubscribe(Command, frozen=True, tag="unsubscribe"):
    topic_id: Name


class Ack(Command, frozen=True, tag="ack"):
    """Everything up to here has arrived."""

    topic_id: Name
    seq: Seq


class Nack(Command, frozen=True, tag="nack", rename={"first": "from", "last": "to"}):
    topic_id: Name
    first: Seq
    last: Seq
    reason: Literal["gap", "decode", "apply", "hash"]


class Send(Command, frozen=True, tag="send"):
    client_msg_id: MessageKey
    body: msgspec.Raw
    """That of a Send over HTTP. What is wrong with it is this command's trouble alone."""
    conduit_token: Token | None = None
    sentinel_token: Token | None = None
    device_id: Name | None = None
    """These three are headers over HTTP."""


class Stop(Command, frozen=True, tag="stop"):
    topic_id: Name


class Pong(Command, frozen=True, tag="pong"):
    t: int | None = None


Question: TypeAlias = Connect | Subscribe | Send | Stop
"""Has to be answered."""
AnyCommand: TypeAlias = Question | Unsubscribe | Ack | Nack | Pong


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: AnyCommand
    id: Seq | None = None
    """Chosen by the page; the answer carries it."""


class BadFrame(Exception):
    """Not a command, or not one that we know."""


def read(text: str) -> tuple[Order, ...]:
    """The commands of a frame: one, or several in an array."""
    try:
        orders = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadFrame(str(error)) from None
    return (orders,) if isinstance(orders, Order) else orders


Orders: TypeAlias = Annotated[tuple[Order, ...], msgspec.Meta(max_length=256)]
_decode = msgspec.json.Decoder(Order | Orders).decode


class Frame(msgspec.Struct, frozen=True, tag_field="type"):
    """What the page is told."""


class Reply(Frame, frozen=True, tag="reply"):
    id: int
    reply: object
    ok: Literal[True] = True


class AckPace(msgspec.Struct, frozen=True):
    """How often to acknowledge: after so many items, or after so long."""

    every: int = 32
    ms: int = 250


class WindowSize(msgspec.Struct, frozen=True):
    items: int = 256
    bytes: int = 262_144


class Connected(msgspec.Struct, frozen=True):
    connection_id: str
    heartbeat_ms: int
    ack: AckPace
    window: WindowSize


class Subscribed(msgspec.Struct, frozen=True):
    topic_id: str
    first_seq: int
    last_seq: int
    catchups: list[msgspec.Raw]
    """Message frames: the first of what was missed. The rest follows."""
    carry: Carry


class Started(msgspec.Struct, frozen=True):
    conversation_id: str
    turn_exchange_id: str
    topic_id: str
    duplicate: bool
    """The message had arrived before; these are the ids it got then."""


class StreamItem(msgspec.Struct, frozen=True, tag_field="type", tag="stream-item"):
    conversation_id: str
    turn_id: str
    encoded_item: str
    """Server-sent events, byte by byte as they are streamed over HTTP."""


class TurnStream(msgspec.Struct, frozen=True, tag_field="type", tag="conversation-turn-stream"):
    payload: StreamItem


class Message(Frame, frozen=True, tag="message"):
    topic_id: str
    seq: int
    """The last event it covers."""
    n: int
    """How many it covers."""
    redelivery: bool
    payload: TurnStream


class Snapshot(Frame, frozen=True, tag="snapshot"):
    topic_id: str
    seq: int
    channels: dict[str, Envelope]
    carry: Carry


class Trouble(msgspec.Struct, frozen=True):
    code: str
    message: str
    retryable: bool
    retry_after_ms: int | None


class Refusal(Frame, frozen=True, tag="nack"):
    id: int | None
    """None where it is about a topic that cannot go on."""
    topic_id: str | None
    """The one it is about, if any."""
    error: Trouble


class Ping(Frame, frozen=True, tag="ping"):
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


class News(Frame, frozen=True, tag="news"):
    news: TurnBegan | TurnEnded | TitleChanged


encode = msgspec.json.Encoder().encode


def message(topic_id: str, conversation_id: str, turn_id: str, item: Item) -> Message:
    streamed = StreamItem(conversation_id, turn_id, item.data.decode())
    return Message(topic_id, item.seq, item.n, False, TurnStream(streamed))


def refusal(order_id: int | None, error: HitsendError, topic_id: str | None = None) -> Refusal:
    is_retryable = isinstance(error, Unavailable | TooFast)
    wait_ms = None if error.retry_after_s is None else round(error.retry_after_s * 1000)
    return Refusal(order_id, topic_id, Trouble(error.code, error.message, is_retryable, wait_ms))
