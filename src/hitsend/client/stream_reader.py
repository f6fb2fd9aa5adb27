"""Reads the v1 stream of one turn: bytes in, updates out, across several connections.

An event may have several frames, of which only the last has its number; a resumed stream repeats
such an event from its first frame. So frames are applied only when their number arrives, and
frames without one are dropped at a cut. `UNNUMBERED_TYPES` are applied at once.
"""

import hashlib
from collections.abc import Iterator

import msgspec

from hitsend.client.call_reader import CallReader
from hitsend.client.errors import StreamInvalid
from hitsend.client.responses import Envelope, Message
from hitsend.client.updates import (
    Delayed,
    Finished,
    Screened,
    Started,
    StoreDelayed,
    TextAdded,
    TextCut,
    TextReplaced,
    Titled,
    ToolReturned,
    Update,
)
from hitsend.sse import DONE_DATA, SseEvent, SseParser
from hitsend.wire import side_events
from hitsend.wire.delta import Carry, Delta, DeltaDecoder
from hitsend.wire.json_patch import BadDelta
from hitsend.wire.side_events import (
    AnswerDelayed,
    Failure,
    ResumeToken,
    StreamComplete,
    StreamError,
    StreamResumed,
    TitleGeneration,
)
from hitsend.wire.v1 import TEXT_PATH

DONE = DONE_DATA.decode()


class StreamReader:
    def __init__(self) -> None:
        self.last_seq = 0
        self.is_done = False
        self.has_afterword = False
        """A title may follow the end of the turn."""
        self.conversation_id = ""
        self.turn_id = ""
        self.token = ""
        """The resume token of the newest connection."""
        self._parser = SseParser()
        self._pending: list[SseEvent] = []
        self._decoder = DeltaDecoder()
        self._has_started = False
        self._answer: tuple[int, str] | None = None
        """Channel and id of the answer in progress."""
        self._emitted: dict[str, list[str]] = {}
        """The text of each answer that was emitted, in pieces."""
        self._calls = CallReader()
        self._running: dict[str, int] = {}
        """The channels of tools that have not returned, by the ids of their messages."""
        self._failure: Failure | None = None

    def reconnect(self) -> None:
        """The next bytes come from a new connection."""
        self._parser = SseParser()
        self._pending.clear()

    def feed(self, chunk: bytes) -> Iterator[Update]:
        """Raises StreamInvalid. Then only a snapshot or the stored message helps."""
        try:
            for event in self._parser.feed(chunk):
                yield from self._receive(event)
        except (BadDelta, msgspec.DecodeError) as error:
            raise StreamInvalid(f"The server sent an invalid stream: {error}") from None

    def correct(self, message: Message) -> Iterator[Update]:
        """Emits the difference between the emitted text and this message."""
        emitted, whole = "".join(self._emitted.get(message.id, ())), message.text
        if emitted != whole and emitted.startswith(whole):
            yield TextCut(message.id, whole)
        elif not whole.startswith(emitted):
            yield TextReplaced(message.id, whole)
        elif rest := whole.removeprefix(emitted):
            yield TextAdded(message.id, rest)
        self._emitted[message.id] = [whole]

    def _receive(self, event: SseEvent) -> Iterator[Update]:
        if event.event == "message" and _event_type(event.data) in UNNUMBERED_TYPES:
            yield from self._apply_unnumbered(event.data)
        else:
            self._pending.append(event)
        self.is_done = event.data == DONE
        if not self.is_done and not _seq_of(event) > self.last_seq:
            return
        frames, self._pending = self._pending, []
        for frame in frames:
            yield from self._apply(frame)
        yield from self._read_calls()
        self.last_seq = max(self.last_seq, _seq_of(event))

    def _apply_unnumbered(self, data: str) -> Iterator[Update]:
        match _decode_unnumbered(data):
            case ResumeToken() as given:
                self.token = given.token
                self._set_ids(given.conversation_id, given.turn_exchange_id)
            case StreamResumed() as resumed:
                self._set_ids(resumed.conversation_id, resumed.turn_exchange_id)
                if resumed.first != self.last_seq + 1:
                    raise BadDelta(f"it goes on at {resumed.first}, after {self.last_seq}.")
                self._decoder.resume(resumed.carry)
            case side_events.StoreDelayed(code=code, message=message):
                yield StoreDelayed(code, message)
            case _Snapshot() as snapshot:
                self._set_ids(snapshot.conversation_id, snapshot.turn_exchange_id)
                yield from self._apply_snapshot(snapshot)

    def _set_ids(self, conversation_id: str, turn_id: str) -> None:
        self.conversation_id, self.turn_id = conversation_id, turn_id

    def _apply_snapshot(self, snapshot: "_Snapshot") -> Iterator[Update]:
        self._decoder = DeltaDecoder()
        for channel, tree in snapshot.channels.items():
            self._decoder.apply(Delta("", "add", tree, channel))
            yield from self._apply_message(channel)
        yield from self._read_calls()
        self._decoder.resume(snapshot.carry)
        self.last_seq = snapshot.seq

    def _apply(self, event: SseEvent) -> Iterator[Update]:
        if event.event == "delta":
            yield from self._apply_delta(_decode_delta(event.data))
        elif event.event != "delta_encoding" and event.data != DONE:
            yield from self._apply_side_event(event.data)

    def _apply_delta(self, delta: Delta) -> Iterator[Update]:
        channel = self._decoder.apply(delta)
        path, op = self._decoder.carry.p, self._decoder.carry.o
        if path == "" and op == "add":
            yield from self._apply_message(channel)
        elif self._answer and channel == self._answer[0] and path == TEXT_PATH and op == "append":
            message_id, text = self._answer[1], str(delta.v)
            self._emitted[message_id].append(text)
            yield TextAdded(message_id, text)
        elif self._answer and channel == self._answer[0] and op == "patch":
            yield from self.correct(self._tree(channel).message)  # it may be cut

    def _apply_message(self, channel: int) -> Iterator[Update]:
        tree = self._tree(channel)
        if not self._has_started:
            self._has_started = True
            self._set_ids(tree.conversation_id, tree.message.metadata.turn_exchange_id)
            yield Started(self.conversation_id, self.turn_id)
        if tree.message.author.role == "assistant":
            yield from self.correct(tree.message)
            self._answer = channel, tree.message.id
        elif tree.message.author.role == "user" and (safety := tree.message.metadata.safety):
            yield Screened(tree.message.id, safety, tree.message.metadata.redactions)
        elif tree.message.author.role == "tool" and tree.message.metadata.tool_result:
            self._running[tree.message.id] = channel

    def _read_calls(self) -> Iterator[Update]:
        for message_id, channel in list(self._running.items()):
            asked = self._tree(self._answer[0]).message if self._answer else None
            calls = asked.metadata.tool_calls if asked else ()
            for update in self._calls.read(self._tree(channel).message, calls):
                yield update
                if isinstance(update, ToolReturned):
                    del self._running[message_id]

    def _apply_side_event(self, data: str) -> Iterator[Update]:
        if _event_type(data) not in KNOWN_TYPES:
            return
        match _decode_known(data):
            case AnswerDelayed(reason=reason, num_ahead=num_ahead):
                yield Delayed(reason, num_ahead)
            case TitleGeneration(title=title):
                yield Titled(title)
            case StreamError(error=failure):
                self._failure = failure
            case StreamComplete() as complete:
                self.has_afterword = complete.has_afterword is True
                yield self._finish(complete)

    def _finish(self, complete: StreamComplete) -> Finished:
        trees = [self._tree(channel).message for channel in self._decoder.channels]
        messages = [one for one in trees if not one.metadata.is_visually_hidden_from_conversation]
        sums = {checksum.id: checksum.sha256 for checksum in complete.messages}
        if sums != {one.id: _sha256(one.text) for one in messages}:
            raise BadDelta("what arrived is not what the server has stored.")
        answer = self._tree(self._answer[0]).message if self._answer else None
        return Finished(answer, complete.status, self._failure)

    def _tree(self, channel: int) -> Envelope:
        return msgspec.convert(self._decoder.tree(channel), Envelope)


class _Tagged(msgspec.Struct, frozen=True):
    type: str


class _Snapshot(msgspec.Struct, frozen=True, tag_field="type", tag="stream_snapshot"):
    """Like the server's, but with trees of any shape, so that unknown fields are kept."""

    conversation_id: str
    turn_exchange_id: str
    seq: int
    channels: dict[int, object]
    carry: Carry


UNNUMBERED_TYPES = frozenset(
    {"resume_conversation_token", "stream_resumed", "stream_snapshot", "store_delayed"}
)
KNOWN_TYPES = frozenset({"answer_delayed", "title_generation", "error", "message_stream_complete"})
"""Other types are ignored: newer servers may send more."""

_decode_tagged = msgspec.json.Decoder(_Tagged).decode
_decode_unnumbered = msgspec.json.Decoder(
    ResumeToken | StreamResumed | _Snapshot | side_events.StoreDelayed
).decode
_decode_known = msgspec.json.Decoder(
    AnswerDelayed | TitleGeneration | StreamError | StreamComplete
).decode
_decode_delta = msgspec.json.Decoder(Delta).decode


def _event_type(data: str) -> str:
    return "" if data == DONE else _decode_tagged(data).type


def _seq_of(event: SseEvent) -> int:
    is_number = event.last_id.isascii() and event.last_id.isdigit() and len(event.last_id) < 16
    return int(event.last_id) if is_number else 0


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
