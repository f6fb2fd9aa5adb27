"""What a view remembers of a turn: its fold, without the text.

A view passes text on and need not keep it, so a long answer costs it no more than a short one.
"""

import msgspec

from hitsend import transcript
from hitsend.events import AnyEvent, TextArrived, TurnStarted
from hitsend.transcript import Said


class Outline:
    turn: TurnStarted
    """Set by the first event of the log."""

    def __init__(self) -> None:
        self.transcript = transcript.EMPTY

    def take(self, event: AnyEvent) -> bool:
        """Whether this ended the answer that was being written."""
        if isinstance(event, TextArrived):
            textless = msgspec.structs.replace(event, text="")
            self.transcript = transcript.apply(self.transcript, textless)
            return False
        if isinstance(event, TurnStarted):
            self.turn = event
        was_open = self._is_open
        self.transcript = transcript.apply(self.transcript, event)
        return was_open and not self._is_open

    @property
    def last(self) -> Said:
        return self.transcript.messages[-1]

    @property
    def answer(self) -> Said | None:
        messages = self.transcript.messages
        return messages[-1] if messages and messages[-1].role == "assistant" else None

    @property
    def _is_open(self) -> bool:
        return self.answer is not None and self.answer.status == "in_progress"
