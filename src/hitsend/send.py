"""A `Send` is a request as it came in; a `Turn` is a Send that was admitted."""

import hashlib
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hitsend.errors import TooLarge
from hitsend.events import Action, TurnStarted
from hitsend.messages import (
    FREE,
    AnswerRules,
    Attachment,
    Message,
    Sampling,
    Text,
    Tool,
    Verdict,
)
from hitsend.safety.redaction import Redaction


class WarmPrefix(msgspec.Struct, frozen=True):
    """The start of the prompt that was prefilled while the message was typed."""

    is_whole: bool
    """False when the prefill was still running as the message came."""
    model: str
    ids: tuple[int, ...]
    """The prefilled tokens. They help only a prompt that begins with them."""
    num_new_tokens: int
    """The others were in the KV cache before the message was typed."""
    read_ms: float


class CallVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's decision about one call."""

    call_id: Annotated[str, Meta(min_length=1, max_length=100)]
    decision: Verdict
    word: Annotated[str, Meta(max_length=500)] = ""


class Send(msgspec.Struct, frozen=True, kw_only=True):
    """A request, parsed. The sender is authenticated."""

    user_id: str
    model: str = "auto"
    sampling: Sampling = Sampling()
    action: Action = "next"
    conversation_id: str | None = None
    """None for a new conversation."""
    parent_id: str | None = None
    """The message before this one; for a variant, the message to answer again; to continue, the
    answer that was cut short."""
    is_temporary: bool = False
    """The new conversation is in no list, uses no memory, and is erased after a day."""
    message_id: str | None = None
    text: str = ""
    attachments: tuple[Attachment, ...] | UnsetType = UNSET
    given: tuple[Message, ...] = ()
    """The whole context of an API call, which belongs to no conversation."""
    tools: tuple[Tool, ...] = ()
    must_call: bool = False
    """The answer has to be a tool call."""
    own_rules: AnswerRules | UnsetType = UNSET
    """All but `must_call`. Unset if nothing else was asked."""
    key: str | None = None
    """The idempotency key: the same key gets the same turn."""
    key_id: str | None = None
    """The API key it was sent with."""
    address: str | None = None
    """The address of the client."""
    request_id: str | UnsetType = UNSET
    turn_trace_id: str | UnsetType = UNSET
    features: tuple[str, ...] | UnsetType = UNSET
    """What the person turned on for this message, such as `web`. Unset for nothing, and for what
    was on in the turn that is repeated or continued."""
    time_zone: str | UnsetType = UNSET
    """The person's, as an IANA name."""
    verdicts: tuple[CallVerdict, ...] | UnsetType = UNSET
    """What the person decided about calls that a turn before this one left undecided."""
    warm_prefix: WarmPrefix | None = msgspec.field(default=None, name="warmth")
    """NOTE: `fingerprint` hashes the encoded names, so they stay the same across upgrades."""

    @property
    def has_memory(self) -> bool:
        """API keys are for programs, which neither see nor change a person's memories."""
        return not self.is_temporary and self.key_id is None

    @property
    def rules(self) -> AnswerRules:
        own = FREE if self.own_rules is UNSET else self.own_rules
        return msgspec.structs.replace(own, must_call=self.must_call)

    @property
    def fingerprint(self) -> str:
        """A hash of the request, without its keys, address and ids."""
        asked = msgspec.structs.replace(
            self,
            key=None,
            key_id=None,
            address=None,
            request_id=UNSET,
            turn_trace_id=UNSET,
            time_zone=UNSET,
            warm_prefix=None,
        )
        return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A Send that was admitted, with its ids and settings."""

    turn_id: str
    conversation_id: str
    """Empty for an API call."""
    answer_id: str
    send: Send
    model: str
    num_window_tokens: int
    has_room_beside: bool = False
    """Whether the engine may write a title while it answers."""
    can_call_tools: bool = False
    features: tuple[str, ...] = ()
    """What is on, such as `web`."""
    sampling: Sampling
    weights_sha256: str | UnsetType = UNSET
    cluster_region: str | UnsetType = UNSET
    created_at: float
    fingerprint: str = ""
    """Of the Send as it came in. Empty without an idempotency key."""
    redactions: tuple[Redaction, ...] = ()
    """What the placeholders in the message stand for."""

    @property
    def is_api(self) -> bool:
        return bool(self.send.given)

    @property
    def is_first(self) -> bool:
        return self.send.conversation_id is None

    @property
    def started_event(self) -> TurnStarted:
        return TurnStarted(
            turn_id=self.turn_id,
            conversation_id=self.conversation_id,
            action=self.send.action,
            model=self.model,
            is_first_turn=self.is_first,
            created_at=self.created_at,
            sampling=self.sampling,
            weights_sha256=self.weights_sha256,
            request_id=self.send.request_id,
            turn_trace_id=self.send.turn_trace_id,
            cluster_region=self.cluster_region,
            features=self.features or UNSET,
        )

    @property
    def user_message(self) -> Message | None:
        """The person's message, if there is one."""
        if self.is_api or self.send.action != "next":
            return None
        text = Text(self.send.text, redactions=self.redactions or UNSET)
        return Message("user", (text, *(self.send.attachments or ())), "user")

    @property
    def question_id(self) -> str | None:
        """The parent of the answer."""
        return self.send.message_id if self.send.action == "next" else self.send.parent_id


def check_length(num_chars: int, most_chars: int) -> None:
    if num_chars > most_chars:
        raise TooLarge(
            f"The message has {num_chars:,} characters; "
            f"at most {most_chars:,} can be sent at once.",
            param="messages",
        )
