"""The v1 stream of one turn: bytes in, updates out, across as many connections as it takes.

An event may come in several frames, of which only the last carries its number; a stream that
is followed again repeats such an event from its first frame. So frames are taken in only once
their number is there, and what came without one before a cut is forgotten. How a stream opens
(`CONTROL`) is no event, and counts at once.
"""

import hashlib
from collections.abc import Iterator

import msgspec

from hitsend.client.failures import Garbled
from hitsend.client.shapes import Message
from hitsend.client.updates import (
    Delayed,
    Finished,
    Started,
    TextAdded,
    TextReplaced,
    Titled,
    Update,
)
from hitsend.wire.delta import Carry, Delta, DeltaDecoder
from hitsend.wire.sse import SseEvent, SseParser
from hitsend.wire.tree import BadDelta
from hitsend.wire.typed import (
    AnswerDelayed,
    Failure,
    ResumeToken,
    StreamComplete,
    StreamError,
    StreamResumed,
    TitleGeneration,
)

DONE = "[DONE]"
TEXT = "/message/content/parts/0"


class Reader:
    def __init__(self) -> None:
        self.last_seq = 0
        self.is_done = False
        self.conversation_id = ""
        self.turn_id = ""
        self.token = ""
        """What the newest connection said to come back with."""
        self._parser = SseParser()
        self._waiting: list[SseEvent] = []
        self._decoder = DeltaDecoder()
        self._has_started = False
        self._answer: tuple[int, str] | None = None
        """Channel and id of the message that is being written."""
        self._told: dict[str, list[str]] = {}
        """The text of each answer as it was told, in pieces."""
        self._failure: Failure | None = None

    def reconnect(self) -> None:
        """The next bytes are those of another connection."""
        self._parser = SseParser()
        self._waiting.clear()

    def feed(self, chunk: bytes) -> Iterator[Update]:
        """Raises Garbled. Then only a summary helps, or what is stored."""
        try:
            for event in self._parser.feed(chunk):
                yield from self._settle(event)
        except (BadDelta, msgspec.DecodeError) as error:
            raise Garbled(f"The server sent a stream that makes no sense: {error}") from None

    def set_right(self, message: Message) -> Iterator[Update]:
        """The answer is known from elsewhere, as far as it goes."""
        told, whole = "".join(self._told.get(message.id, ())), message.text
        if not whole.startswith(told):
            yield TextReplaced(message.id, whole)
        elif rest := whole.removeprefix(told):
            yield TextAdded(message.id, rest)
        self._told[message.id] = [whole]

    def _settle(self, event: SseEvent) -> Iterator[Update]:
        if event.event == "message" and _kind(event.data) in CONTROL:
            yield from self._take_control(event.data)
        else:
            self._waiting.append(event)
        self.is_done = event.data == DONE
        if not self.is_done and not _number(event) > self.last_seq:
            return
        taken, self._waiting = self._waiting, []
        for frame in taken:
            yield from self._take(frame)
        self.last_seq = max(self.last_seq, _number(event))

    def _take_control(self, data: str) -> Iterator[Update]:
        match _as_control(data):
            case ResumeToken() as given:
                self.token = given.token
                self._belong_to(given.conversation_id, given.turn_exchange_id)
            case StreamResumed() as resumed:
                self._belong_to(resumed.conversation_id, resumed.turn_exchange_id)
                if resumed.first != self.last_seq + 1:
                    raise BadDelta(f"it goes on at {resumed.first}, after {self.last_seq}.")
                self._decoder.resume(resumed.carry)
            case _Snapshot() as snapshot:
                self._belong_to(snapshot.conversation_id, snapshot.turn_exchange_id)
                yield from self._take_snapshot(snapshot)

    def _belong_to(self, conversation_id: str, turn_id: str) -> None:
        self.conversation_id, self.turn_id = conversation_id, turn_id

    def _take_snapshot(self, snapshot: "_Snapshot") -> Iterator[Update]:
        self._decoder = DeltaDecoder()
        for channel, tree in snapshot.channels.items():
            self._decoder.take(Delta("", "add", tree, channel))
            yield from self._take_message(channel)
        self._decoder.resume(snapshot.carry)
        self.last_seq = snapshot.seq

    def _take(self, event: SseEvent) -> Iterator[Update]:
        if event.event == "delta":
            yield from self._take_delta(_as_delta(event.data))
        elif event.event != "delta_encoding" and event.data != DONE:
            yield from self._take_typed(event.data)

    def _take_delta(self, delta: Delta) -> Iterator[Update]:
        channel = self._decoder.take(delta)
        path, op = self._decoder.carry.p, self._decoder.carry.o
        if path == "" and op == "add":
            yield from self._take_message(channel)
        elif self._answer and channel == self._answer[0] and path == TEXT and op == "append":
            message_id, text = self._answer[1], str(delta.v)
            self._told[message_id].append(text)
            yield TextAdded(message_id, text)

    def _take_message(self, channel: int) -> Iterator[Update]:
        tree = self._tree(channel)
        if not self._has_started:
            self._has_started = True
            self._belong_to(tree.conversation_id, tree.message.metadata.turn_exchange_id)
            yield Started(self.conversation_id, self.turn_id)
        if tree.message.author.role == "assistant":
            yield from self.set_right(tree.message)
            self._answer = channel, tree.message.id

    def _take_typed(self, data: str) -> Iterator[Update]:
        if _kind(data) not in KNOWN:
            return
        match _as_known(data):
            case AnswerDelayed(reason=reason, num_ahead=num_ahead):
                yield Delayed(reason, num_ahead)
            case TitleGeneration(title=title):
                yield Titled(title)
            case StreamError(error=failure):
                self._failure = failure
            case StreamComplete() as complete:
                yield self._finished(complete)

    def _finished(self, complete: StreamComplete) -> Finished:
        trees = [self._tree(channel).message for channel in self._decoder.channels]
        messages = [one for one in trees if not one.metadata.is_visually_hidden_from_conversation]
        sums = {checksum.id: checksum.sha256 for checksum in complete.messages}
        if sums != {one.id: _sha256(one.text) for one in messages}:
            raise BadDelta("what arrived is not what the server has stored.")
        answer = self._tree(self._answer[0]).message if self._answer else None
        return Finished(answer, complete.status, self._failure)

    def _tree(self, channel: int) -> "_Tree":
        return msgspec.convert(self._decoder.tree(channel), _Tree)


class _Tree(msgspec.Struct, frozen=True):
    message: Message
    conversation_id: str


class _Any(msgspec.Struct, frozen=True):
    type: str


class _Snapshot(msgspec.Struct, frozen=True, tag_field="type", tag="stream_snapshot"):
    """Like the server's, but for the trees: whatever they are made of is kept."""

    conversation_id: str
    turn_exchange_id: str
    seq: int
    channels: dict[int, object]
    carry: Carry


CONTROL = frozenset({"resume_conversation_token", "stream_resumed", "stream_snapshot"})
KNOWN = frozenset({"answer_delayed", "title_generation", "error", "message_stream_complete"})
"""What this client makes use of. The rest is passed over: newer servers may say more."""

_as_any = msgspec.json.Decoder(_Any).decode
_as_control = msgspec.json.Decoder(ResumeToken | StreamResumed | _Snapshot).decode
_as_known = msgspec.json.Decoder(
    AnswerDelayed | TitleGeneration | StreamError | StreamComplete
).decode
_as_delta = msgspec.json.Decoder(Delta).decode


def _kind(data: str) -> str:
    return "" if data == DONE else _as_any(data).type


def _number(event: SseEvent) -> int:
    is_number = event.last_id.isascii() and event.last_id.isdigit() and len(event.last_id) < 16
    return int(event.last_id) if is_number else 0


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
