"""The fold of a turn without its text.

A view forwards text and need not keep it, so its memory does not grow with the answer. Texts are
counted as they come, and folded together when something else happens.
"""

from hitsend import transcript
from hitsend.events import AnyEvent, TextArrived, TurnStarted
from hitsend.transcript import FoldedMessage, OutputCounts, Transcript


class TextlessFold:
    turn: TurnStarted
    """Set by the first event of the log."""

    def __init__(self) -> None:
        self._folded = transcript.EMPTY
        self._counts: OutputCounts | None = None

    def apply(self, event: AnyEvent) -> bool:
        """Returns whether the event ended the answer in progress."""
        if isinstance(event, TextArrived):
            self._counts = (self._counts or OutputCounts()).add(event)
            return False
        if isinstance(event, TurnStarted):
            self.turn = event
        was_open = self._is_open
        self._folded = transcript.apply(self.transcript, event)
        return was_open and not self._is_open

    @property
    def transcript(self) -> Transcript:
        if self._counts is not None:
            self._folded = transcript.add_counts(self._folded, self._counts)
            self._counts = None
        return self._folded

    @property
    def last_message(self) -> FoldedMessage:
        return self.transcript.messages[-1]

    @property
    def answer(self) -> FoldedMessage | None:
        messages = self.transcript.messages
        return messages[-1] if messages and messages[-1].role == "assistant" else None

    @property
    def _is_open(self) -> bool:
        return self.answer is not None and self.answer.status == "in_progress"
