"""A turn for a reader that knows nothing of deltas: each frame is a whole message.

Simple to read and costly to send; `v1` is the other way round.
"""

from collections.abc import Sequence

import msgspec

from hitsend import transcript
from hitsend.events import Stamped, TurnFailed, TurnStarted
from hitsend.wire.coalesce import coalesced
from hitsend.wire.message import Envelope, Origin, WireMessage, message
from hitsend.wire.problem import error_of, problem
from hitsend.wire.sse import frame


class PlainView:
    _turn: TurnStarted
    """Set by the first event of the log."""

    def __init__(self) -> None:
        self._transcript = transcript.EMPTY
        self._shown: list[WireMessage] = []

    def encode(self, batch: Sequence[Stamped]) -> bytes:
        """Every message these events changed, as it is after the last of them."""
        if not batch:
            return b""
        for stamped in coalesced(batch, max_chars=None):
            if isinstance(stamped.event, TurnStarted):
                self._turn = stamped.event
            self._transcript = transcript.apply(self._transcript, stamped.event)
        last = batch[-1]
        envelopes = [*self._changed(), *self._failure(last)]
        seqs = [None] * (len(envelopes) - 1) + [last.seq]
        frames = [frame(_json(one), seq=seq) for one, seq in zip(envelopes, seqs, strict=False)]
        return b"".join(frames)

    def pieces(self, batch: Sequence[Stamped]) -> list[bytes]:
        """In one go: in several, each would repeat the whole message."""
        return [frames] if (frames := self.encode(batch)) else []

    def _changed(self) -> list[Envelope]:
        origin, before = Origin.of(self._turn), self._shown
        self._shown = [message(said, origin) for said in self._transcript.messages]
        return [
            Envelope(now, self._turn.conversation_id)
            for i, now in enumerate(self._shown)
            if i >= len(before) or now != before[i]
        ]

    def _failure(self, last: Stamped) -> list[Envelope]:
        if not isinstance(last.event, TurnFailed):
            return []
        shown = self._shown[-1] if self._shown else None
        error = problem(error_of(last.event))
        return [Envelope(shown, self._turn.conversation_id, error)]


_json = msgspec.json.Encoder().encode
