"""Encodes a turn without deltas, for simple readers: each SSE frame is a whole message.

Every change sends the message again, so long answers are costly; `v1` sends deltas.
"""

from collections.abc import Sequence

import msgspec

from hitsend import transcript
from hitsend.events import Stamped, TurnFailed, TurnStarted
from hitsend.sse import encode_frame
from hitsend.wire.coalesce import coalesce_text
from hitsend.wire.message import Envelope, Origin, WireMessage, build_message
from hitsend.wire.problem import describe_error, error_from_failure
from hitsend.wire.side_events import StoreDelayed


class FullMessageView:
    _turn: TurnStarted
    """Set by the first event of the log."""

    def __init__(self) -> None:
        self._transcript = transcript.EMPTY
        self._messages: list[WireMessage] = []
        """As last encoded."""

    def encode(self, batch: Sequence[Stamped]) -> bytes:
        """Encodes every message that these events changed, in its last state."""
        if not batch:
            return b""
        for stamped in coalesce_text(batch, max_chars=None):
            if isinstance(stamped.event, TurnStarted):
                self._turn = stamped.event
            self._transcript = transcript.apply(self._transcript, stamped.event)
        last = batch[-1]
        envelopes = [*self._changed_messages(), *self._failure(last)]
        seqs = [None] * (len(envelopes) - 1) + [last.seq]
        numbered = zip(envelopes, seqs, strict=False)
        return b"".join(encode_frame(_encode_json(one), seq=seq) for one, seq in numbered)

    def encode_delay(self, delay: StoreDelayed) -> bytes:
        return b""  # it has frames for messages only

    def encode_chunks(self, batch: Sequence[Stamped]) -> list[bytes]:
        """Returns one chunk: each further one would repeat the whole message."""
        return [frames] if (frames := self.encode(batch)) else []

    def _changed_messages(self) -> list[Envelope]:
        origin, previous = Origin.from_turn(self._turn), self._messages
        self._messages = [build_message(one, origin) for one in self._transcript.messages]
        return [
            Envelope(message, self._turn.conversation_id)
            for i, message in enumerate(self._messages)
            if i >= len(previous) or message != previous[i]
        ]

    def _failure(self, last: Stamped) -> list[Envelope]:
        if not isinstance(last.event, TurnFailed):
            return []
        message = self._messages[-1] if self._messages else None
        error = describe_error(error_from_failure(last.event))
        return [Envelope(message, self._turn.conversation_id, error)]


_encode_json = msgspec.json.Encoder().encode
