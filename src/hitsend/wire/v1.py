"""Step 12, wire: encodes a turn for ChatGPT's web client: SSE frames of v1 deltas and side events.

One view encodes one turn for one reader, event by event in order; how events are batched
changes only how much text is in a frame.

NOTE: only the last frame of an event has its `id`, so a reader that was cut off in between
gets the whole event again. The frames of an event must therefore be idempotent, except for
text: that is always a single delta, and the last frame.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, assert_never

import msgspec
from msgspec import UNSET

from hitsend import transcript
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerGuarded,
    AnswerStarted,
    ApprovalDecided,
    ApprovalRequested,
    ContextBuilt,
    Ending,
    FormAnswered,
    FormShown,
    MemoriesChanged,
    MessageAdded,
    MessageScreened,
    PromptEncoded,
    PromptRead,
    PromptWarmed,
    Stamped,
    TextArrived,
    TextEnd,
    TitleChosen,
    ToolArgumentsArrived,
    ToolCallArrived,
    ToolCallDropped,
    ToolCallStarted,
    ToolProgressed,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from hitsend.messages import Thought, ToolResult, Usage
from hitsend.safety.policy import Screening
from hitsend.sse import encode_frame
from hitsend.wire import message as wire
from hitsend.wire import side_events
from hitsend.wire.coalesce import coalesce_text
from hitsend.wire.delta import Carry, DeltaEncoder
from hitsend.wire.hidden_messages import hidden_messages
from hitsend.wire.json_patch import Op, PatchItem
from hitsend.wire.problem import describe_error, error_from_failure
from hitsend.wire.textless_fold import TextlessFold

TEXT_PATH = "/message/content/parts/0"
CALLS_PATH = "/message/metadata/tool_calls"
THOUGHT_PATH = "/message/metadata/thought"
RESULT_PATH = "/message/metadata/tool_result"

STREAM_STATUSES: dict[Ending, side_events.StreamStatus] = {
    "stop": "finished_successfully",
    "length": "finished_successfully",
    "tool_calls": "finished_successfully",
    "stopped": "finished_partial_completion",
    "interrupted": "interrupted",
    "failed": "failed",
    "blocked": "finished_partial_completion",
}


class SseFrame(NamedTuple):
    data: bytes
    event: str | None = None


class Item(NamedTuple):
    """The frames of one event, or of coalesced text. Events without frames count towards the
    next item."""

    seq: int
    """The last event it covers."""
    n: int
    """Number of events it covers."""
    data: bytes


ENCODING_FRAME = SseFrame(b'"v1"', "delta_encoding")


class V1View:
    """Without a `token` the reader cannot resume."""

    def __init__(self, pad: int = 16, token: side_events.ResumeToken | None = None) -> None:
        self._pad = pad
        self._token = token
        self._deltas = DeltaEncoder()
        self._fold = TextlessFold()
        self._num_hidden = 0
        self._checksums: list[TextChecksum] = []
        self._num_calls = 0
        self._has_thought = False
        """In the newest message."""
        self._warmed: PromptWarmed | None = None
        self._first_word_ms: float | None = None
        self._seq = 0
        self._last_item_seq = 0

    def encode(self, batch: Sequence[Stamped]) -> bytes:
        if len(batch) == 1:  # a reader who keeps up gets one token at a time
            item = self._encode_item(batch[0])
            return item.data if item else b""
        return b"".join(self.encode_chunks(batch))

    def encode_chunks(self, batch: Sequence[Stamped]) -> Iterator[bytes]:
        """Encodes lazily: a chunk that nobody asks for is not made."""
        return (item.data for item in self._items(batch))

    def encode_delay(self, delay: side_events.StoreDelayed) -> bytes:
        return self._encode_frame(_side_event(delay))

    def encode_items(self, batch: Sequence[Stamped]) -> list[Item]:
        return list(self._items(batch))

    def skip(self, events: Sequence[Stamped]) -> None:
        """Advances past events that the reader already has."""
        for stamped in coalesce_text(events, max_chars=None):
            self._seq = self._last_item_seq = stamped.seq
            self._event_frames(stamped)

    @property
    def seq(self) -> int:
        """The last event encoded or skipped."""
        return self._seq

    @property
    def carry(self) -> Carry:
        """Fields that the next delta may omit."""
        return self._deltas.carry

    def _items(self, batch: Sequence[Stamped]) -> Iterator[Item]:
        return (item for stamped in coalesce_text(batch) if (item := self._encode_item(stamped)))

    def _encode_item(self, stamped: Stamped) -> Item | None:
        self._seq = stamped.seq
        frames = self._event_frames(stamped)
        if not frames:
            return None
        n, self._last_item_seq = self._seq - self._last_item_seq, self._seq
        *others, last = frames
        encoded = [self._encode_frame(frame) for frame in others]
        encoded.append(self._encode_frame(last, self._seq))
        return Item(self._seq, n, b"".join(encoded) if others else encoded[0])

    def _encode_frame(self, frame: SseFrame, seq: int | None = None) -> bytes:
        data, event = frame
        return encode_frame(data, event, seq, self._pad if event == "delta" else 0)

    def _event_frames(self, stamped: Stamped) -> list[SseFrame]:
        event = stamped.event
        ended = self._fold.apply(event)
        match event:
            case TextArrived(text=text, first_word_ms=first_word_ms):
                at_ms = stamped.at_ms if first_word_ms is UNSET else first_word_ms
                return self._thought_frames(event) + self._text_frames(text, at_ms)
            case TurnStarted():
                return [ENCODING_FRAME, *([_side_event(self._token)] if self._token else ())]
            case MessageAdded() | AnswerStarted() | ToolStarted():
                return self._message_frames()
            case ToolCallStarted() | ToolCallArrived():
                return [self._call_frame()]
            case ToolArgumentsArrived(text=text):
                path = f"{CALLS_PATH}/{self._num_calls - 1}/arguments"
                return [self._delta(path, "append", text)]
            case AnswerGuarded():
                return self._guard_frames(event)
            case MemoriesChanged():
                return self._memory_frames()
            case AnswerDelayed(reason=reason, num_ahead=num_ahead):
                return [_side_event(side_events.AnswerDelayed(reason, num_ahead))]
            case AnswerFinished():
                return self._end_frames(ended)
            case TitleChosen(title=title, revision=revision):
                conversation_id = self._turn.conversation_id
                return [_side_event(side_events.TitleGeneration(title, conversation_id, revision))]
            case TurnFinished() | TurnFailed():
                return self._end_frames(ended) + self._turn_end_frames(event)
            case ToolProgressed(call_id=call_id, text=text):
                at = self._result_place(call_id)
                return [self._delta(f"{RESULT_PATH}/progress", "append", text, at)]
            case ApprovalRequested(call_id=call_id) | ApprovalDecided(call_id=call_id):
                return [self._result_frame(call_id)]
            case FormShown(call_id=call_id) | FormAnswered(call_id=call_id):
                return [self._result_frame(call_id)]
            case ToolReturned(result=result):
                return self._return_frames(result) if ended else []
            case PromptWarmed():
                self._warmed = event
                return []
            case ContextBuilt():
                return self._hidden_frames(event)
            case ToolCallDropped() | PromptEncoded() | TurnAccepted() | PromptRead():
                return []
            case MessageScreened():
                return []  # the message itself says so
            case _:
                assert_never(event)

    @property
    def _turn(self) -> TurnStarted:
        return self._fold.turn

    def _hidden_frames(self, built: ContextBuilt) -> list[SseFrame]:
        """They come first in the stream, each on a channel of its own that never changes."""
        frames = []
        for message in hidden_messages(self._turn, built):
            envelope = wire.Envelope(message, self._turn.conversation_id)
            delta = self._deltas.encode(self._num_hidden, "", "add", envelope)
            frames.append(SseFrame(_encode_json(delta), "delta"))
            self._num_hidden += 1
        return frames

    def _message_frames(self) -> list[SseFrame]:
        message = wire.build_message(self._fold.last_message, wire.Origin.from_turn(self._turn))
        self._num_calls, self._has_thought = 0, False
        self._checksums.append(TextChecksum(message.id, message.content.parts[0]))
        envelope = wire.Envelope(message, self._turn.conversation_id)
        add = self._delta("", "add", envelope)
        if self._fold.last_message.role != "user":
            return [add]
        told = [_side_event(side_events.InputMessage(message, self._turn.conversation_id))]
        if screening := self._fold.last_message.safety:
            told.append(self._moderation_frame(screening, message.id))
        return [add, *told]

    def _guard_frames(self, guarded: AnswerGuarded) -> list[SseFrame]:
        changes = [PatchItem("/message/metadata", "append", {"safety": guarded.screening})]
        checksum, end = self._checksums[-1], guarded.text_end
        if end is not UNSET and end.num_chars < checksum.num_chars:
            checksum.cut(end)
            changes.insert(0, PatchItem(TEXT_PATH, "truncate", end.num_chars))
        message_id = self._fold.last_message.message_id
        told = self._moderation_frame(guarded.screening, message_id)
        return [told, self._delta("", "patch", changes)]

    def _moderation_frame(self, screening: Screening, message_id: str) -> SseFrame:
        response = side_events.ModerationResponse(
            flagged=bool(screening.reasons),
            blocked=screening.outcome in ("block", "cut"),
            categories=tuple(reason.name for reason in screening.reasons),
        )
        stage: Literal["input", "output"] = "output" if screening.stage == "answer" else "input"
        conversation_id = self._turn.conversation_id
        return _side_event(side_events.Moderation(conversation_id, message_id, stage, response))

    def _memory_frames(self) -> list[SseFrame]:
        """Empty before the answer has begun: its first frame then includes the memories."""
        at = transcript.last_answer_index(self._fold.transcript)
        if at is None:
            return []
        seen = self._fold.transcript.messages[at].seen
        return [self._delta("/message/metadata/seen", "add", seen, at)]

    def _thought_frames(self, arrived: TextArrived) -> list[SseFrame]:
        frames = []
        if arrived.reasoning and not self._has_thought:
            self._has_thought = True
            thought = {"thought": Thought(arrived.reasoning)}
            frames.append(self._delta("/message/metadata", "append", thought))
        elif arrived.reasoning:
            frames.append(self._delta(f"{THOUGHT_PATH}/text", "append", arrived.reasoning))
        if arrived.thought_ms is not UNSET:
            frames.append(self._delta(f"{THOUGHT_PATH}/took_ms", "add", arrived.thought_ms))
        return frames

    def _text_frames(self, text: str, at_ms: float) -> list[SseFrame]:
        if not text:
            return []
        checksum = self._checksums[-1]
        is_first = checksum.num_chars == 0
        checksum.add(text)
        append = self._delta(TEXT_PATH, "append", text)
        if not is_first:
            return [append]
        self._first_word_ms = at_ms if self._first_word_ms is None else self._first_word_ms
        return [self._marker("user_visible_token"), append]

    def _call_frame(self) -> SseFrame:
        calls = wire.get_tool_calls(self._fold.last_message)
        if len(calls) == self._num_calls:  # the call that was started is whole
            return self._delta(f"{CALLS_PATH}/{len(calls) - 1}/is_partial", "remove", None)
        self._num_calls = len(calls)
        return self._delta("/message/metadata", "append", {"tool_calls": calls})

    def _end_frames(self, ended: Sequence[int]) -> list[SseFrame]:
        """The last of the messages is the answer, unless a tool was running."""
        frames = []
        for at in ended:
            message = self._fold.transcript.messages[at]
            changes = (
                PatchItem("/message/status", "replace", wire.STATUSES[message.status]),
                PatchItem("/message/end_turn", "replace", wire.end_turn_flag(message)),
                PatchItem("/message/metadata", "append", wire.build_end_metadata(message)),
            )
            frames.append(self._delta("", "patch", changes, at))
            if message.role == "assistant":
                frames.append(self._marker("last_token"))
        return frames

    def _result_place(self, call_id: str) -> int:
        at = transcript.find_result_index(self._fold.transcript, call_id)
        assert at is not None
        return at

    def _result_frame(self, call_id: str) -> SseFrame:
        at = self._result_place(call_id)
        result = wire.get_tool_result(self._fold.transcript.messages[at])
        return self._delta(RESULT_PATH, "replace", result, at)

    def _return_frames(self, result: ToolResult) -> list[SseFrame]:
        at = self._result_place(result.call_id)
        message = self._fold.transcript.messages[at]
        changes = (
            PatchItem("/message/status", "replace", wire.STATUSES[message.status]),
            PatchItem(RESULT_PATH, "replace", wire.get_tool_result(message)),
        )
        frames = [self._delta("", "patch", changes, at)]
        if result.output:
            self._checksums[at].add(result.output)
            frames.append(self._delta(TEXT_PATH, "append", result.output, at))
        return frames

    def _turn_end_frames(self, end: TurnFinished | TurnFailed) -> list[SseFrame]:
        turn = self._turn
        complete = side_events.StreamComplete(
            turn.conversation_id,
            turn.turn_id,
            self._seq,
            STREAM_STATUSES[end.ending if isinstance(end, TurnFinished) else "failed"],
            tuple(checksum.value() for checksum in self._checksums),
            end.has_afterword if isinstance(end, TurnFinished) else UNSET,
        )
        return [
            _side_event(side_events.ServerMetadata(self._turn_metadata(), turn.conversation_id)),
            *([self._error_frame(end)] if isinstance(end, TurnFailed) else ()),
            _side_event(complete),
        ]

    def _turn_metadata(self) -> side_events.TurnMetadata:
        answer, folded = self._fold.answer, self._fold.transcript
        first = next((one for one in folded.messages if one.role == "assistant"), None)
        first_usage = first.usage if first else None
        return side_events.TurnMetadata(
            model_slug=self._turn.model,
            is_first_turn=self._turn.is_first_turn,
            turn_exchange_id=self._turn.turn_id,
            message_id=answer.message_id if answer else None,
            usage=transcript.sum_usage(folded),
            ttft_ms=self._first_word_ms,
            sampling=self._turn.sampling.explicit,
            conduit_prewarmed=_num_warm_tokens(self._warmed, first_usage) > 0,
            warmup_state=_warmup_state(self._warmed),
            saved_ms=_saved_ms(self._warmed, first_usage),
            request_id=self._turn.request_id,
            turn_trace_id=self._turn.turn_trace_id,
            cluster_region=self._turn.cluster_region,
        )

    def _error_frame(self, failure: TurnFailed) -> SseFrame:
        error = side_events.Failure(
            message=failure.message,
            type=describe_error(error_from_failure(failure)).type,
            code=failure.code,
            param=None,
            retryable=failure.is_retryable,
            retry_after_ms=failure.retry_after_ms,
        )
        message_id = self._fold.answer.message_id if self._fold.answer else None
        return _side_event(
            side_events.StreamError(error, self._turn.conversation_id, message_id), "error"
        )

    def _marker(self, marker: side_events.Marker) -> SseFrame:
        message_id = self._fold.last_message.message_id
        position: side_events.MarkerPosition = "last" if marker == "last_token" else "first"
        return _side_event(
            side_events.MessageMarker(self._turn.conversation_id, message_id, marker, position)
        )

    def _delta(self, path: str, op: Op, value: object, at: int | None = None) -> SseFrame:
        """`at` is the place of the message, without one the newest."""
        channel = self._num_hidden + (len(self._checksums) - 1 if at is None else at)
        return SseFrame(_encode_json(self._deltas.encode(channel, path, op, value)), "delta")


class TextChecksum:
    """Length and hash of a message's text, updated as it grows."""

    def __init__(self, message_id: str, text: str) -> None:
        self.num_chars = 0
        self._message_id = message_id
        self._hash = hashlib.sha256()
        self._end: TextEnd | None = None
        self.add(text)

    def add(self, text: str) -> None:
        self.num_chars += len(text)
        self._hash.update(text.encode())

    def cut(self, end: TextEnd) -> None:
        """Ends the text here. Nothing follows."""
        self.num_chars, self._end = end.num_chars, end

    def value(self) -> side_events.Checksum:
        digest = self._end.sha256 if self._end else self._hash.hexdigest()
        return side_events.Checksum(self._message_id, self.num_chars, digest)


def build_channels(log: Sequence[Stamped]) -> dict[str, wire.Envelope]:
    """Returns the state of each channel after all deltas of the log."""
    if not log:
        return {}
    turn = log[0].event
    assert isinstance(turn, TurnStarted)
    events = [stamped.event for stamped in log]
    built = (event for event in events if isinstance(event, ContextBuilt))
    hidden = [message for event in built for message in hidden_messages(turn, event)]
    origin = wire.Origin.from_turn(turn)
    folded = [wire.build_message(one, origin) for one in transcript.fold(events).messages]
    return {
        str(i): wire.Envelope(message, turn.conversation_id)
        for i, message in enumerate([*hidden, *folded])
    }


def encode_opening(opening: side_events.Opening, token: side_events.ResumeToken | None) -> bytes:
    """Encodes the first frames of a resumed stream. They belong to no event and have no id."""
    first = [opening] if token is None else [opening, token]
    return b"".join(encode_frame(*frame) for frame in [ENCODING_FRAME, *map(_side_event, first)])


def _warmup_state(warmed: PromptWarmed | None) -> side_events.WarmupState:
    return "cold" if warmed is None else "warm" if warmed.is_whole else "warming"


def _saved_ms(warmed: PromptWarmed | None, usage: Usage | None) -> float | None:
    """The time that was spent on the prewarmed tokens that were cached when the answer began."""
    if warmed is None or usage is None or not (num_new := _num_new_tokens(warmed)):
        return None
    return round(warmed.read_ms * _num_warm_tokens(warmed, usage) / num_new, 3)


def _num_warm_tokens(warmed: PromptWarmed | None, usage: Usage | None) -> int:
    """Returns how many of the cached tokens were cached by prewarming."""
    if warmed is None or usage is None:
        return 0
    num_before = warmed.num_tokens - _num_new_tokens(warmed)
    return max(min(warmed.num_tokens, usage.num_cached_tokens) - num_before, 0)


def _num_new_tokens(warmed: PromptWarmed) -> int:
    return warmed.num_tokens if warmed.num_new_tokens is UNSET else warmed.num_new_tokens


def _side_event(event: side_events.SideEvent, name: str | None = None) -> SseFrame:
    return SseFrame(_encode_json(event), name)


_encode_json = msgspec.json.Encoder().encode
