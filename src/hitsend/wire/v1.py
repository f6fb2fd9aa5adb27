"""A turn as ChatGPT's web client reads it: SSE frames of v1 deltas and typed events.

One view follows one turn for one reader. It is asked for the bytes of the next events, in
order; how they are grouped into batches changes only how much text is in a frame.

NOTE: only the last frame of an event has its `id`, so a reader that was cut off in between
gets the whole event again. Everything an event says must therefore bear being applied
twice, except text: an arrival of text is always its one delta, and last.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple, assert_never

import msgspec
from msgspec import UNSET

from hitsend import transcript
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerStarted,
    ContextBuilt,
    Ending,
    MemoriesChanged,
    MessageAdded,
    PromptEncoded,
    PromptRead,
    PromptWarmed,
    Stamped,
    TextArrived,
    TitleChosen,
    ToolCallArrived,
    ToolReturned,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from hitsend.messages import Usage
from hitsend.wire import message as wire
from hitsend.wire import typed
from hitsend.wire.coalesce import coalesced
from hitsend.wire.delta import Carry, DeltaEncoder
from hitsend.wire.hidden import hidden_messages
from hitsend.wire.outline import Outline
from hitsend.wire.problem import error_of, problem
from hitsend.wire.sse import frame
from hitsend.wire.tree import Change, Op

TEXT = "/message/content/parts/0"

STATUS: dict[Ending, typed.StreamStatus] = {
    "stop": "finished_successfully",
    "length": "finished_successfully",
    "tool_calls": "finished_successfully",
    "stopped": "finished_partial_completion",
    "interrupted": "interrupted",
    "failed": "failed",
}


class Frame(NamedTuple):
    data: bytes
    event: str | None = None


class Item(NamedTuple):
    """The frames of an event, or of text that arrived together. Events nobody is shown go with
    the next one that is."""

    seq: int
    """The last event it covers."""
    n: int
    """How many it covers."""
    data: bytes


BANNER = Frame(b'"v1"', "delta_encoding")


class V1View:
    """Without a `token` the reader is not told how to come back."""

    def __init__(self, pad: int = 16, token: typed.ResumeToken | None = None) -> None:
        self._pad = pad
        self._token = token
        self._deltas = DeltaEncoder()
        self._outline = Outline()
        self._num_hidden = 0
        self._measures: list[Measure] = []
        self._warmed: PromptWarmed | None = None
        self._first_word_ms: float | None = None
        self._seq = 0
        self._told = 0
        """The last event that is in an item."""

    def encode(self, batch: Sequence[Stamped]) -> bytes:
        """The frames of the next events."""
        return b"".join(self.pieces(batch))

    def pieces(self, batch: Sequence[Stamped]) -> Iterator[bytes]:
        """The same, little by little: what is not asked for is not made yet."""
        return (item.data for item in self._items(batch))

    def items(self, batch: Sequence[Stamped]) -> list[Item]:
        """The same, with the numbers of the events."""
        return list(self._items(batch))

    def skip(self, events: Sequence[Stamped]) -> None:
        """Go past what the reader already has."""
        for stamped in coalesced(events, max_chars=None):
            self._seq = self._told = stamped.seq
            self._frames(stamped)

    @property
    def seq(self) -> int:
        """The last event it has seen."""
        return self._seq

    @property
    def carry(self) -> Carry:
        """What the next delta may leave out."""
        return self._deltas.carry

    def _items(self, batch: Sequence[Stamped]) -> Iterator[Item]:
        return (item for stamped in coalesced(batch) if (item := self._item(stamped)))

    def _item(self, stamped: Stamped) -> Item | None:
        self._seq = stamped.seq
        frames = self._frames(stamped)
        if not frames:
            return None
        n, self._told = self._seq - self._told, self._seq
        return Item(self._seq, n, b"".join(self._framed(frames)))

    def _framed(self, frames: list[Frame]) -> list[bytes]:
        last = len(frames) - 1
        return [
            frame(
                data,
                event,
                self._seq if i == last else None,
                self._pad if event == "delta" else 0,
            )
            for i, (data, event) in enumerate(frames)
        ]

    def _frames(self, stamped: Stamped) -> list[Frame]:
        event = stamped.event
        is_end = self._outline.take(event)
        match event:
            case TextArrived(text=text, first_word_ms=first_word_ms):
                return self._text(text, stamped.at_ms if first_word_ms is UNSET else first_word_ms)
            case TurnStarted():
                return [BANNER, _typed(self._token)] if self._token else [BANNER]
            case MessageAdded() | AnswerStarted():
                return self._added()
            case ToolCallArrived():
                calls = {"tool_calls": wire.tool_calls(self._outline.last)}
                return [self._delta("/message/metadata", "append", calls)]
            case MemoriesChanged():
                return self._changed()
            case AnswerDelayed(reason=reason, num_ahead=num_ahead):
                return [_typed(typed.AnswerDelayed(reason, num_ahead))]
            case AnswerFinished():
                return self._closed() if is_end else []
            case TitleChosen(title=title, revision=revision):
                conversation_id = self._turn.conversation_id
                return [_typed(typed.TitleGeneration(title, conversation_id, revision))]
            case TurnFinished(ending=ending):
                return [*(self._closed() if is_end else ()), *self._ended(ending)]
            case TurnFailed():
                return [*(self._closed() if is_end else ()), *self._ended("failed", event)]
            case PromptWarmed():
                self._warmed = event
                return []
            case ContextBuilt():
                return self._hidden(event)
            case ToolReturned() | PromptEncoded() | TurnAccepted() | PromptRead():
                return []
            case _:
                assert_never(event)

    @property
    def _turn(self) -> TurnStarted:
        return self._outline.turn

    def _hidden(self, built: ContextBuilt) -> list[Frame]:
        """First in the stream, each on a channel of its own that nothing is added to."""
        frames = []
        for message in hidden_messages(self._turn, built):
            envelope = wire.Envelope(message, self._turn.conversation_id)
            delta = self._deltas.encode(self._num_hidden, "", "add", envelope)
            frames.append(Frame(_json(delta), "delta"))
            self._num_hidden += 1
        return frames

    def _added(self) -> list[Frame]:
        message = wire.message(self._outline.last, wire.Origin.of(self._turn))
        self._measures.append(Measure(message.id, message.content.parts[0]))
        envelope = wire.Envelope(message, self._turn.conversation_id)
        add = self._delta("", "add", envelope)
        if self._outline.last.role != "user":
            return [add]
        return [add, _typed(typed.InputMessage(message, self._turn.conversation_id))]

    def _changed(self) -> list[Frame]:
        """Before the answer has begun there is nothing to change: it comes with it."""
        if self._outline.answer is None:
            return []
        return [self._delta("/message/metadata/seen", "add", self._outline.answer.seen)]

    def _text(self, text: str, at_ms: float) -> list[Frame]:
        if not text:
            return []
        measure = self._measures[-1]
        is_first = measure.num_chars == 0
        measure.add(text)
        append = self._delta(TEXT, "append", text)
        if not is_first:
            return [append]
        self._first_word_ms = at_ms if self._first_word_ms is None else self._first_word_ms
        return [self._marker("user_visible_token"), append]

    def _closed(self) -> list[Frame]:
        said = self._outline.last
        changes = (
            Change("/message/status", "replace", wire.STATUS[said.status]),
            Change("/message/end_turn", "replace", wire.end_turn(said)),
            Change("/message/metadata", "append", wire.closing(said)),
        )
        return [self._delta("", "patch", changes), self._marker("last_token")]

    def _ended(self, ending: Ending, failure: TurnFailed | None = None) -> list[Frame]:
        turn = self._turn
        complete = typed.StreamComplete(
            turn.conversation_id,
            turn.turn_id,
            self._seq,
            STATUS[ending],
            tuple(measure.checksum() for measure in self._measures),
        )
        return [
            _typed(typed.ServerMetadata(self._facts(), turn.conversation_id)),
            *([self._error(failure)] if failure else ()),
            _typed(complete),
        ]

    def _facts(self) -> typed.TurnFacts:
        answer = self._outline.answer
        return typed.TurnFacts(
            model_slug=self._turn.model,
            is_first_turn=self._turn.is_first_turn,
            turn_exchange_id=self._turn.turn_id,
            message_id=answer.message_id if answer else None,
            usage=answer.usage if answer else None,
            ttft_ms=self._first_word_ms,
            sampling=self._turn.sampling,
            conduit_prewarmed=self._warmed is not None,
            warmup_state=_warmup(self._warmed),
            saved_ms=_saved_ms(self._warmed, answer.usage if answer else None),
        )

    def _error(self, failure: TurnFailed) -> Frame:
        error = typed.Failure(
            message=failure.message,
            type=problem(error_of(failure)).type,
            code=failure.code,
            param=None,
            retryable=failure.is_retryable,
            retry_after_ms=failure.retry_after_ms,
        )
        message_id = self._outline.answer.message_id if self._outline.answer else None
        return _typed(typed.StreamError(error, self._turn.conversation_id, message_id), "error")

    def _marker(self, marker: typed.Marker) -> Frame:
        message_id = self._outline.last.message_id
        place: typed.Place = "last" if marker == "last_token" else "first"
        return _typed(typed.MessageMarker(self._turn.conversation_id, message_id, marker, place))

    def _delta(self, path: str, op: Op, value: object) -> Frame:
        channel = self._num_hidden + len(self._measures) - 1
        return Frame(_json(self._deltas.encode(channel, path, op, value)), "delta")


class Measure:
    """The length and hash of a message's text, as it grows."""

    def __init__(self, message_id: str, text: str) -> None:
        self.num_chars = 0
        self._message_id = message_id
        self._hash = hashlib.sha256()
        self.add(text)

    def add(self, text: str) -> None:
        self.num_chars += len(text)
        self._hash.update(text.encode())

    def checksum(self) -> typed.Checksum:
        return typed.Checksum(self._message_id, self.num_chars, self._hash.hexdigest())


def channels(log: Sequence[Stamped]) -> dict[str, wire.Envelope]:
    """What the deltas of a turn, from its first event on, come to."""
    if not log:
        return {}
    turn = log[0].event
    assert isinstance(turn, TurnStarted)
    events = [stamped.event for stamped in log]
    built = (event for event in events if isinstance(event, ContextBuilt))
    hidden = [message for event in built for message in hidden_messages(turn, event)]
    origin = wire.Origin.of(turn)
    said = [wire.message(one, origin) for one in transcript.fold(events).messages]
    return {
        str(i): wire.Envelope(message, turn.conversation_id)
        for i, message in enumerate([*hidden, *said])
    }


def opened(opening: typed.Opening, token: typed.ResumeToken | None) -> bytes:
    """The first frames of a stream that goes on. They are no events, and have no number."""
    told = [opening] if token is None else [opening, token]
    return b"".join([frame(*BANNER), *(frame(_json(one)) for one in told)])


def _warmup(warmed: PromptWarmed | None) -> typed.Warmup:
    return "cold" if warmed is None else "warm" if warmed.is_whole else "warming"


def _saved_ms(warmed: PromptWarmed | None, usage: Usage | None) -> float | None:
    """Of what was read ahead, as much as the engine still had when the answer began."""
    if warmed is None or usage is None or warmed.num_tokens == 0:
        return None
    share = min(1.0, usage.num_cached_tokens / warmed.num_tokens)
    return round(warmed.read_ms * share, 3)


def _typed(event: typed.Typed, name: str | None = None) -> Frame:
    return Frame(_json(event), name)


_json = msgspec.json.Encoder().encode
