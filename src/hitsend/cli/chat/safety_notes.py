"""What people are told of the safety checks: what they did to an answer, and the values that the
model did not see, in place of their placeholders."""

import re
from collections.abc import Iterable

from hitsend.client import Finished, Redaction, restore

OPEN_PLACEHOLDER = re.compile(r"\[[A-Z0-9_]{0,80}$")


class Placeholders:
    """Those of one conversation."""

    def __init__(self) -> None:
        self._redactions: dict[str, Redaction] = {}
        self._held = ""

    def learn(self, redactions: Iterable[Redaction]) -> None:
        for one in redactions:
            self._redactions.setdefault(one.placeholder, one)

    def restore(self, text: str) -> str:
        return restore(text, tuple(self._redactions.values()))

    def add(self, text: str) -> str:
        """Returns what can be shown of a text that comes in pieces. A placeholder that has only
        begun waits for its end."""
        text = self._held + text
        begun = OPEN_PLACEHOLDER.search(text) if self._redactions else None
        end = begun.start() if begun else len(text)
        self._held = text[end:]
        return self.restore(text[:end])

    def finish(self) -> str:
        rest, self._held = self._held, ""
        return rest


def describe_block(finished: Finished) -> str:
    """Says what the safety checks of the server did."""
    safety = finished.message.metadata.safety if finished.message else None
    if safety is None:  # it is about the message, and what stands for an answer says why
        return "This message was not sent to a model. You can ask for a review on the page."
    if safety.outcome == "cut":
        return "The safety checks stopped the answer here. You can ask for a review on the page."
    return "The safety checks withheld this answer. You can ask for a review on the page."
