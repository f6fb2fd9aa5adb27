"""The fold of a turn without its text.

A view forwards text and need not keep it, so its memory does not grow with the answer. Texts are
counted as they come, and folded together when something else happens.
"""

from collections.abc import Sequence

from hitsend import transcript
from hitsend.events import AnyEvent, TextArrived, TurnStarted
from hitsend.transcript import FoldedMessage, OutputCounts, Transcript


class TextlessFold:
    turn: TurnStarted
    """Set by the first event of the log."""

    def __init__(self) -> None:
        self._folded = transcript.EMPTY
        self._counts: OutputCounts | None = None

    def apply(self, event: AnyEvent) -> Sequence[int]:
        """Returns the places of the messages in progress that the event ended."""
        if isinstance(event, TextArrived):
            self._counts = (self._counts or OutputCounts()).add(event)
            return ()
        if isinstance(event, TurnStarted):
            self.turn = event
        were_open = _open_places(self._folded)
        self._folded = transcript.apply(self.transcript, event)
        return [at for at in were_open if self._folded.messages[at].status != "in_progress"]

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
        """The newest one."""
        at = transcript.last_answer_index(self.transcript)
        return None if at is None else self._folded.messages[at]


def _open_places(folded: Transcript) -> list[int]:
    messages = enumerate(folded.messages)
    return [at for at, message in messages if message.status == "in_progress"]
