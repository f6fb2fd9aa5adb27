"""What a turn starts from: the Send as it came in, and the Turn it becomes once admitted."""

import hashlib

import msgspec

from hitsend.errors import TooLarge
from hitsend.events import Action, TurnStarted
from hitsend.messages import Message, Sampling, Text, Tool


class Warmth(msgspec.Struct, frozen=True):
    """What was read ahead of a Send, while it was being typed."""

    is_whole: bool
    """False where the reading still went on when the message came."""
    model: str
    ids: tuple[int, ...]
    """The tokens. Only a prompt that begins with them is any warmer for it."""
    read_ms: float


class Send(msgspec.Struct, frozen=True, kw_only=True):
    """What arrived at the door, already parsed. Who sent it has been checked."""

    user_id: str
    model: str = "auto"
    sampling: Sampling = Sampling()
    action: Action = "next"
    conversation_id: str | None = None
    """None begins a new conversation."""
    parent_id: str | None = None
    """What the message follows; for a variant, the message to answer again; to continue, the
    answer that was cut short."""
    is_temporary: bool = False
    """The conversation that this begins is in no list, has no memory, and is gone after a day."""
    message_id: str | None = None
    text: str = ""
    given: tuple[Message, ...] = ()
    """An API call brings its whole context along and belongs to no conversation."""
    tools: tuple[Tool, ...] = ()
    must_call: bool = False
    """The answer has to be a call of one of the tools."""
    key: str | None = None
    """The same key asks for the same turn, however often it comes."""
    key_id: str | None = None
    """The API key it came with."""
    address: str | None = None
    """Where it came from."""
    warmth: Warmth | None = None

    @property
    def has_memory(self) -> bool:
        """A key is for programs: what a person wants remembered is not theirs to see or change."""
        return not self.is_temporary and self.key_id is None

    @property
    def fingerprint(self) -> str:
        """Of what is asked for: not of how it came, or of what it is called."""
        asked = msgspec.structs.replace(self, key=None, key_id=None, address=None, warmth=None)
        return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A Send that will be answered, with the ids everything about it goes by."""

    turn_id: str
    conversation_id: str
    """Empty for an API call."""
    answer_id: str
    send: Send
    model: str
    num_window_tokens: int
    sampling: Sampling
    created_at: float

    @property
    def is_api(self) -> bool:
        return bool(self.send.given)

    @property
    def is_first(self) -> bool:
        return self.send.conversation_id is None

    @property
    def started(self) -> TurnStarted:
        return TurnStarted(
            turn_id=self.turn_id,
            conversation_id=self.conversation_id,
            action=self.send.action,
            model=self.model,
            is_first_turn=self.is_first,
            created_at=self.created_at,
            sampling=self.sampling,
        )

    @property
    def said(self) -> Message | None:
        """What the person says in this turn, if anything."""
        if self.is_api or self.send.action != "next":
            return None
        return Message("user", (Text(self.send.text),), "user")

    @property
    def question_id(self) -> str | None:
        """The message that the answer follows."""
        return self.send.message_id if self.send.action == "next" else self.send.parent_id


def check_length(text: str, most_chars: int) -> None:
    if len(text) > most_chars:
        raise TooLarge(
            f"The message has {len(text):,} characters; "
            f"at most {most_chars:,} can be sent at once.",
            param="messages",
        )
