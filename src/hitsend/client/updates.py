"""What a turn tells a client while it runs. `Finished` is the last, but for a late title."""

from typing import TypeAlias

import msgspec

from hitsend.client.shapes import Message
from hitsend.events import Delay
from hitsend.wire.typed import Failure, StreamStatus


class Started(msgspec.Struct, frozen=True):
    """The message is stored; from here on the turn goes on with or without us."""

    conversation_id: str
    turn_id: str


class Delayed(msgspec.Struct, frozen=True):
    """The answer has to wait. May come more than once."""

    reason: Delay
    num_ahead: int


class Retrying(msgspec.Struct, frozen=True):
    """Nothing is lost: the connection is gone, or the server asks for patience, and it is tried
    again in a while."""

    problem: str
    delay_s: float
    num_tries: int
    """In a row that brought nothing."""


class TextAdded(msgspec.Struct, frozen=True):
    message_id: str
    text: str


class TextReplaced(msgspec.Struct, frozen=True):
    """What arrived was damaged on its way. This is all of it, as it is stored."""

    message_id: str
    text: str


class Titled(msgspec.Struct, frozen=True):
    title: str


class Finished(msgspec.Struct, frozen=True):
    """The answer as it is stored, and how the turn ended."""

    message: Message | None
    """None when the turn failed before there was one."""
    status: StreamStatus
    failure: Failure | None = None
    """Why it failed, in the server's words."""

    @property
    def text(self) -> str:
        return self.message.text if self.message else ""


Update: TypeAlias = Started | Delayed | Retrying | TextAdded | TextReplaced | Titled | Finished
