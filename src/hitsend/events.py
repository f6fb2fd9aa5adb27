"""Everything that can happen between Send and the last word.

This union is hitsend's one vocabulary. The turn log stores it, `transcript` folds it, every
wire format is a view of it. To show a person something new, add an event here first:
`make generate` writes its TypeScript twin to web/src/api/events.gen.ts, and both type
checkers then point at every place that has to learn it.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.messages import (
    ChangedMemory,
    Message,
    Sampling,
    Seen,
    Source,
    Token,
    ToolCall,
    ToolResult,
    Usage,
)

Action: TypeAlias = Literal["next", "variant", "continue"]
"""A new message, another answer to the same message, or more of an answer that was cut short."""

Ending: TypeAlias = Literal["stop", "length", "tool_calls", "stopped", "interrupted", "failed"]
"""Why an answer ended: by itself, out of room, to call a tool, by the person, by our crash
or restart, or by an error."""

Delay: TypeAlias = Literal["queue", "loading"]
"""What an answer waits for: its turn among other answers, or its model."""


class Event(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="type"):
    """Something that happened. `AnyEvent` below is the closed list.

    None can refer to itself, and running turns hold a hundred thousand of them: the collector
    need not walk over them, which would stop every stream for a tenth of a second."""


class TurnStarted(Event, frozen=True):
    """The message was admitted and has its ids. Nothing is stored yet."""

    turn_id: str
    conversation_id: str
    """Empty for an API call that belongs to no conversation."""
    action: Action
    model: str
    is_first_turn: bool
    created_at: float
    sampling: Sampling


class Section(msgspec.Struct, frozen=True):
    """A stretch of the prompt that came from one place."""

    source: Source
    num_messages: int
    num_chars: int
    num_tokens: int = 0
    """As the model counts them. Not known in older records."""


class ContextBuilt(Event, frozen=True):
    """What the model is shown, in the order it sees it, and what of the conversation it is not."""

    sections: tuple[Section, ...]
    seen: Seen | None = None
    """None where that is the newest messages alone."""


class Span(msgspec.Struct, frozen=True, array_like=True):
    """The next `num_tokens` tokens of the prompt came from `source`, message `index` of it.

    `index` counts the messages of the context; the template's own tokens have -1."""

    source: Source
    index: int
    num_tokens: int


class PromptEncoded(Event, frozen=True):
    """The prompt as the model reads it, and where each stretch of it came from."""

    num_tokens: int
    num_window_tokens: int
    num_dropped_messages: int
    """Oldest messages left out because they did not fit."""
    is_exact: bool
    """False where the engine cannot count and the number is an estimate."""
    spans: tuple[Span, ...]


class TurnAccepted(Event, frozen=True):
    """The message is stored. From here on nothing is dropped in silence."""


class MessageAdded(Event, frozen=True):
    """A message that is whole from the start: what the person said."""

    message_id: str
    parent_id: str | None
    message: Message


class AnswerStarted(Event, frozen=True):
    """An empty answer, about to be filled."""

    message_id: str
    parent_id: str | None
    model: str


class PromptWarmed(Event, frozen=True):
    """The beginning of the prompt was read, or was being read, before Send was pressed."""

    is_whole: bool
    """False where that was still going on when the message came."""
    num_tokens: int
    """How much of the prompt was to be read ahead."""
    read_ms: float
    """What reading it took, which nobody has to wait for now."""


class AnswerDelayed(Event, frozen=True):
    """The answer has to wait before its prompt is read. May come again while it waits.

    `loading` comes only where a model left memory, or died, after the turn was accepted: the
    prompt is counted before that, which waits for the model without a word. Until then the
    engine's status tells that it is loading."""

    reason: Delay
    num_ahead: int
    """How many other answers wait before this one."""


class PromptRead(Event, frozen=True):
    """The engine has read the prompt; the next thing is the first word."""

    num_cached_tokens: int
    num_evaluated_tokens: int
    queued_ms: float
    prefill_ms: float


class TextArrived(Event, frozen=True):
    """Some tokens, in the order they came. Several arrivals may be merged into one."""

    text: str
    tokens: tuple[Token, ...] = ()
    first_word_ms: float | UnsetType = UNSET
    """Only where the first word is among them: when it came, counted from Send."""
    num_searched_tokens: int | UnsetType = UNSET
    """Of a beam search: tokens evaluated since the last arrival, of which there may be none yet."""


class ToolCallArrived(Event, frozen=True):
    """The model asked for a tool."""

    call: ToolCall


class ToolReturned(Event, frozen=True):
    """What came of a tool the model asked for. The answer goes on, knowing it."""

    result: ToolResult


class MemoriesChanged(Event, frozen=True):
    """The person asked to have something remembered or forgotten, or might want to."""

    changed: tuple[ChangedMemory, ...]


class AnswerFinished(Event, frozen=True):
    """The answer is whole, or as whole as it will get."""

    message_id: str
    ending: Ending
    usage: Usage


class TitleChosen(Event, frozen=True):
    """The conversation was given its name. A better one may come after the turn has ended."""

    title: str
    revision: int


class TurnFinished(Event, frozen=True):
    """The end of a turn that went as it should, or that the person or a restart cut short. Only a
    title, or a memory that is suggested, may follow."""

    ending: Ending


class TurnFailed(Event, frozen=True):
    """The end of a turn that did not. What was said so far is kept."""

    code: str
    message: str
    is_retryable: bool
    retry_after_ms: int | None = None


AnyEvent: TypeAlias = (
    TurnStarted
    | ContextBuilt
    | PromptEncoded
    | TurnAccepted
    | PromptWarmed
    | MessageAdded
    | AnswerStarted
    | AnswerDelayed
    | PromptRead
    | TextArrived
    | ToolCallArrived
    | ToolReturned
    | MemoriesChanged
    | AnswerFinished
    | TitleChosen
    | TurnFinished
    | TurnFailed
)


class Stamped(msgspec.Struct, frozen=True, gc=False):
    """An event with its place in the turn: gapless from 1, and when it was stored."""

    seq: int
    at_ms: float
    event: AnyEvent


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(AnyEvent).decode


def merged(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """The same events with each run of text as one arrival. Folds to the same transcript."""
    result: list[AnyEvent] = []
    for is_text, run in groupby(events, lambda event: isinstance(event, TextArrived)):
        several = list(run)
        result += [joined(cast(list[TextArrived], several))] if is_text else several
    return result


def joined(arrivals: Sequence[TextArrived]) -> TextArrived:
    """Several arrivals of text as one."""
    if len(arrivals) == 1:
        return arrivals[0]
    told = (arrival.first_word_ms for arrival in arrivals)
    searched = [n for arrival in arrivals if (n := arrival.num_searched_tokens) is not UNSET]
    return TextArrived(
        "".join(arrival.text for arrival in arrivals),
        tuple(chain.from_iterable(arrival.tokens for arrival in arrivals)),
        next((first_word_ms for first_word_ms in told if first_word_ms is not UNSET), UNSET),
        sum(searched) if searched else UNSET,
    )
