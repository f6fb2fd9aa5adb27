"""Every event of a turn, from Send to the last word.

The turn log stores these events, `transcript` folds them, and every wire format is a view of
them. To show something new, add an event here first: `make generate` writes its TypeScript type
to web/src/api/events.gen.ts, and both type checkers then point at every place that must handle
it.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.messages import (
    ApprovalDecision,
    ApprovalReason,
    ChangedMemory,
    Form,
    FormAction,
    Message,
    Sampling,
    Seen,
    Source,
    Token,
    ToolCall,
    ToolResult,
    Usage,
)
from hitsend.safety.policy import Screening

Action: TypeAlias = Literal["next", "variant", "continue"]
"""A new message, another answer to the same message, or more of an answer that was cut off."""

Ending: TypeAlias = Literal[
    "stop", "length", "tool_calls", "stopped", "interrupted", "failed", "blocked"
]
"""Why an answer ended: by itself, at the length limit, to call a tool, stopped by the user, by a
crash or restart of the server, by an error, or because the safety checks did not let it pass."""

DropReason: TypeAlias = Literal["cut", "malformed", "unknown"]
"""Why a call was dropped: the answer ended within it, it is no JSON, or no tool has its name."""

Delay: TypeAlias = Literal["queue", "loading"]
"""An answer waits in the queue, or for its model to load."""


class Event(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="type"):
    """Base of all events; `AnyEvent` below is the closed list.

    `gc=False`: events hold no cycles, and running turns hold a hundred thousand of them. Walking
    over them would stop every stream for 0.1 s."""


class TurnStarted(Event, frozen=True):
    """The message was admitted and its ids are known. Nothing is stored yet."""

    turn_id: str
    conversation_id: str
    """Empty for an API call that belongs to no conversation."""
    action: Action
    model: str
    is_first_turn: bool
    created_at: float
    sampling: Sampling
    weights_sha256: str | UnsetType = UNSET
    """The weights that answer. Unset for a remote engine, which does not tell."""
    request_id: str | UnsetType = UNSET
    """The request that sent the message: its `x-request-id`."""
    turn_trace_id: str | UnsetType = UNSET
    """The client's id for the turn, or one of ours."""
    cluster_region: str | UnsetType = UNSET
    features: tuple[str, ...] | UnsetType = UNSET
    """What the person turned on for this message, such as `web`."""


class MessageScreened(Event, frozen=True):
    """The safety checks read the message before the model did."""

    screening: Screening


class Section(msgspec.Struct, frozen=True):
    """A part of the prompt with one source."""

    source: Source
    num_messages: int
    num_chars: int
    num_tokens: int = 0
    """As the model counts them. 0 in older records."""


class ContextBuilt(Event, frozen=True):
    """The context was built: what the model sees, in order, and which messages were left out."""

    sections: tuple[Section, ...]
    seen: Seen | None = None
    """None if the model sees only the newest messages."""
    tools: tuple[str, ...] | UnsetType = UNSET
    """The tools of ours that the model may call."""


class Span(msgspec.Struct, frozen=True, array_like=True):
    """The next `num_tokens` tokens of the prompt came from `source`, message `index` of it.

    `index` counts the messages of the context; the template's own tokens have -1."""

    source: Source
    index: int
    num_tokens: int


class PromptEncoded(Event, frozen=True):
    """The prompt was encoded for the model, with the source of each span of tokens."""

    num_tokens: int
    num_window_tokens: int
    num_dropped_messages: int
    """Oldest messages left out because they did not fit."""
    is_exact: bool
    """False if the number is an estimate, because the engine cannot count tokens."""
    spans: tuple[Span, ...]


class TurnAccepted(Event, frozen=True):
    """The message is stored. From here on every failure is an event of this turn."""


class MessageAdded(Event, frozen=True):
    """A complete message was added: the user's."""

    message_id: str
    parent_id: str | None
    message: Message


class AnswerStarted(Event, frozen=True):
    """An empty answer was started. After the results of tools, another one is."""

    message_id: str
    parent_id: str | None
    model: str


class PromptWarmed(Event, frozen=True):
    """The beginning of the prompt was prefilled, or was being prefilled, before Send."""

    is_whole: bool
    """False if prefill was still running when the message came."""
    num_tokens: int
    """Number of prompt tokens to prefill."""
    read_ms: float
    """How long prefill took: waiting time saved."""
    num_new_tokens: int | UnsetType = UNSET
    """The tokens that were not in the KV cache before. Unset in logs of earlier versions."""


class AnswerDelayed(Event, frozen=True):
    """The answer waits before prefill. May come several times.

    `loading` comes only if a model left memory, or died, after the turn was accepted. Counting
    the prompt's tokens before that also waits for the model, without an event; the engine's
    status then says that it is loading."""

    reason: Delay
    num_ahead: int
    """Number of answers in the queue before this one."""


class PromptRead(Event, frozen=True):
    """The engine has prefilled the prompt; the first token comes next."""

    num_cached_tokens: int
    num_evaluated_tokens: int
    queued_ms: float
    prefill_ms: float


class TextArrived(Event, frozen=True):
    """Some tokens of the answer, in order. Neighbouring events may be merged into one."""

    text: str
    tokens: tuple[Token, ...] = ()
    first_word_ms: float | UnsetType = UNSET
    """Time from Send to the first word. Set only on the event with the first word."""
    num_searched_tokens: int | UnsetType = UNSET
    """For a beam search: tokens evaluated since the previous event."""
    reasoning: str | UnsetType = UNSET
    """What the model thought before this text, where a server tells it apart. No part of the
    answer's text."""
    thought_ms: float | UnsetType = UNSET
    """How long the model thought. Set on the first text after thoughts."""


class ToolCallStarted(Event, frozen=True):
    """The model began to call a tool. Its arguments follow."""

    call_id: str
    tool: str
    is_hosted: bool | UnsetType = UNSET


class ToolArgumentsArrived(Event, frozen=True):
    """A piece of the arguments of the call that was started."""

    call_id: str
    text: str


class ToolCallArrived(Event, frozen=True):
    """The model called a tool, and the call is whole."""

    call: ToolCall


class ToolCallDropped(Event, frozen=True):
    """The model wrote a call that is not whole, or that no tool answers to. Nobody runs it."""

    reason: DropReason
    text: str = ""
    """What the model wrote, if the call was never started."""
    call_id: str | UnsetType = UNSET
    """The call, if it was started."""


class ToolStarted(Event, frozen=True):
    """A call of a tool of ours begins: an empty message for its result was added."""

    message_id: str
    parent_id: str | None
    result: ToolResult


class ToolProgressed(Event, frozen=True):
    """A tool reported something while it runs, such as what a program prints."""

    call_id: str
    text: str


class ApprovalRequested(Event, frozen=True):
    """The call waits until the person allows or refuses it."""

    call_id: str
    reason: ApprovalReason


class ApprovalDecided(Event, frozen=True):
    """The person allowed or refused the call, or did not answer in time."""

    call_id: str
    decision: ApprovalDecision
    word: str = ""
    """What the person said to a refused call."""


class FormShown(Event, frozen=True):
    """A tool asks the person something, and waits."""

    call_id: str
    form: Form


class FormAnswered(Event, frozen=True):
    """The person answered the form. What they wrote goes to the tool only."""

    call_id: str
    form_id: str
    action: FormAction


class ToolReturned(Event, frozen=True):
    """A tool returned its result. The answer continues with it."""

    result: ToolResult


class TextEnd(msgspec.Struct, frozen=True):
    """A text is cut to this length, in code points. The digest is that of what is left."""

    num_chars: int
    sha256: str


class AnswerGuarded(Event, frozen=True):
    """The safety checks changed the answer, or something has to be said about it."""

    screening: Screening
    text_end: TextEnd | UnsetType = UNSET
    """Set if the answer ends before what has been shown of it."""


class MemoriesChanged(Event, frozen=True):
    """Memories were added or removed at the user's request, or suggested."""

    changed: tuple[ChangedMemory, ...]


class AnswerFinished(Event, frozen=True):
    """The answer has ended."""

    message_id: str
    ending: Ending
    usage: Usage


class TitleChosen(Event, frozen=True):
    """The conversation got a title. A better one may follow after the turn has ended."""

    title: str
    revision: int


class TurnFinished(Event, frozen=True):
    """The turn ended: normally, stopped by the user, or interrupted by a restart."""

    ending: Ending
    has_afterword: bool | UnsetType = UNSET
    """Set if a title or a suggested memory may follow."""


class TurnFailed(Event, frozen=True):
    """The turn failed. The text so far is kept."""

    code: str
    message: str
    is_retryable: bool
    retry_after_ms: int | None = None


AnyEvent: TypeAlias = (
    TurnStarted
    | MessageScreened
    | ContextBuilt
    | PromptEncoded
    | TurnAccepted
    | PromptWarmed
    | MessageAdded
    | AnswerStarted
    | AnswerDelayed
    | PromptRead
    | TextArrived
    | ToolCallStarted
    | ToolArgumentsArrived
    | ToolCallArrived
    | ToolCallDropped
    | ToolStarted
    | ToolProgressed
    | ApprovalRequested
    | ApprovalDecided
    | FormShown
    | FormAnswered
    | ToolReturned
    | AnswerGuarded
    | MemoriesChanged
    | AnswerFinished
    | TitleChosen
    | TurnFinished
    | TurnFailed
)


class Stamped(msgspec.Struct, frozen=True, gc=False):
    """An event with its number in the turn, gapless from 1, and its time."""

    seq: int
    at_ms: float
    event: AnyEvent


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(AnyEvent).decode


ENDS = TurnFinished, TurnFailed


def is_end(event: AnyEvent) -> bool:
    """Whether the event ends its turn."""
    return isinstance(event, ENDS)


def merge_texts(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Joins each run of TextArrived into one. The result folds to the same transcript."""
    result: list[AnyEvent] = []
    for is_text, run in groupby(events, lambda event: isinstance(event, TextArrived)):
        neighbours = list(run)
        result += [join_texts(cast(list[TextArrived], neighbours))] if is_text else neighbours
    return result


def join_texts(arrivals: Sequence[TextArrived]) -> TextArrived:
    if len(arrivals) == 1:
        return arrivals[0]
    times = (arrival.first_word_ms for arrival in arrivals)
    thought = (arrival.thought_ms for arrival in arrivals)
    searched = [n for arrival in arrivals if (n := arrival.num_searched_tokens) is not UNSET]
    return TextArrived(
        "".join(arrival.text for arrival in arrivals),
        tuple(chain.from_iterable(arrival.tokens for arrival in arrivals)),
        next((first_word_ms for first_word_ms in times if first_word_ms is not UNSET), UNSET),
        sum(searched) if searched else UNSET,
        "".join(arrival.reasoning or "" for arrival in arrivals) or UNSET,
        next((thought_ms for thought_ms in thought if thought_ms is not UNSET), UNSET),
    )
