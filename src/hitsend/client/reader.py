"""The v1 stream of one turn: bytes in, updates out, across as many connections as it takes.

An event may come in several frames, of which only the last carries its number; a stream that
is followed again repeats such an event from its first frame. So frames are taken in only once
their number is there, and what came without one before a cut is forgotten.
"""

import hashlib
from collections.abc import Iterator

import msgspec

from hitsend.client.shapes import Message
from hitsend.client.updates import Delayed, Finished, Started, TextAdded, Titled, Update
from hitsend.errors import HitsendError
from hitsend.wire.delta import Delta, DeltaDecoder
from hitsend.wire.sse import SseEvent, SseParser
from hitsend.wire.tree import BadDelta
from hitsend.wire.typed import (
    AnswerDelayed,
    Failure,
    StreamComplete,
    StreamError,
    TitleGeneration,
)

DONE = "[DONE]"
TEXT = "/message/content/parts/0"


class Reader:
    def __init__(self) -> None:
        self.last_seq = 0
        self.is_done = False
        self._parser = SseParser()
        self._waiting: list[SseEvent] = []
        self._decoder = DeltaDecoder()
        self._has_started = False
        self._answer: tuple[int, str] | None = None
        """Channel and id of the message that is being written."""
        self._failure: Failure | None = None

    def reconnect(self) -> None:
        """The next bytes are those after `last_seq`."""
        self._parser = SseParser()
        self._waiting.clear()

    def feed(self, chunk: bytes) -> Iterator[Update]:
        try:
            for event in self._parser.feed(chunk):
                yield from self._settle(event)
        except (BadDelta, msgspec.DecodeError) as error:
            raise HitsendError(f"The server sent a stream that makes no sense: {error}") from None

    def _settle(self, event: SseEvent) -> Iterator[Update]:
        self._waiting.append(event)
        self.is_done = event.data == DONE
        if not self.is_done and not _number(event) > self.last_seq:
            return
        taken, self._waiting = self._waiting, []
        for frame in taken:
            yield from self._take(frame)
        self.last_seq = max(self.last_seq, _number(event))

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
            yield TextAdded(self._answer[1], str(delta.v))

    def _take_message(self, channel: int) -> Iterator[Update]:
        tree = self._tree(channel)
        if tree.message.author.role == "assistant":
            self._answer = channel, tree.message.id
        if not self._has_started:
            self._has_started = True
            yield Started(tree.conversation_id, tree.message.metadata.turn_exchange_id)

    def _take_typed(self, data: str) -> Iterator[Update]:
        if _as_any(data).type not in KNOWN:
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
        message = self._tree(self._answer[0]).message if self._answer else None
        finished = Finished(message, complete.status, self._failure)
        sums = {checksum.id: checksum.sha256 for checksum in complete.messages}
        if message and sums.get(message.id) != hashlib.sha256(finished.text.encode()).hexdigest():
            raise BadDelta("what arrived is not what the server has stored.")
        return finished

    def _tree(self, channel: int) -> "_Tree":
        return msgspec.convert(self._decoder.tree(channel), _Tree)


class _Tree(msgspec.Struct, frozen=True):
    message: Message
    conversation_id: str


class _Any(msgspec.Struct, frozen=True):
    type: str


KNOWN = frozenset({"answer_delayed", "title_generation", "error", "message_stream_complete"})
"""What this client makes use of. The rest is passed over: newer servers may say more."""

_as_any = msgspec.json.Decoder(_Any).decode
_as_known = msgspec.json.Decoder(
    AnswerDelayed | TitleGeneration | StreamError | StreamComplete
).decode
_as_delta = msgspec.json.Decoder(Delta).decode


def _number(event: SseEvent) -> int:
    return int(event.last_id) if event.last_id.isascii() and event.last_id.isdigit() else 0
