"""Decides how much of an answer may be shown while it is being written.

A calm answer runs on with a short lag: what is shown has been scanned together with the words that
follow it. Once the n-grams are alarmed, whole sentences are held back until somebody has judged
them. Pure: no model, no clock.
"""

import re
from typing import NamedTuple, Protocol

LAG_CHARS = 32
FIRST_LAG_CHARS = 8
"""The first words come after a shorter lag, which then grows by a quarter of the text."""
STEP_CHARS = 12
"""A scan for each few characters is much cheaper than one for each token."""
NUM_CALM_SENTENCES = 3
"""After so many sentences without harm an alarm is over."""
MAX_SENTENCE_CHARS = 400
NUM_CONTEXT_CHARS = 300
"""What is judged with a sentence: the text before it."""

SENTENCE_END = re.compile(r"[.!?…][\"')\]*_]*(?=\s)|[。！？]|\n")


class TextScore(Protocol):
    """Scores a text that grows."""

    def add(self, text: str) -> float:
        """Returns the score of the last few hundred characters."""


class Sentence(NamedTuple):
    end: int
    text: str
    """With what was said before it."""


class AnswerScan:
    def __init__(
        self,
        score: TextScore | None,
        alarm: float,
        *,
        is_alarmed: bool = False,
        min_lag_chars: int = 0,
    ) -> None:
        """`alarm` is the score from which sentences are held back. An answer that starts alarmed
        stays so. `min_lag_chars`: the longest phrase that nobody may see the beginning of."""
        self.text = ""
        self.num_scanned = 0
        self.num_passed = 0
        """How much of it may be shown."""
        self.is_alarmed = is_alarmed
        self._stays_alarmed = is_alarmed
        self._score = score
        self._alarm = alarm
        self._num_calm = 0
        self._min_lag_chars = min_lag_chars

    def add(self, text: str) -> None:
        self.text += text
        if len(self.text) - self.num_scanned >= STEP_CHARS:
            self.finish()

    def finish(self) -> None:
        """Scans what there is: the answer has ended, or something else comes before it goes on."""
        new, self.num_scanned = self.text[self.num_scanned :], len(self.text)
        if new and self._score is not None and self._score.add(new) >= self._alarm:
            self.is_alarmed, self._num_calm = True, 0

    def pass_calm(self, *, is_last: bool = False, is_pause: bool = False) -> None:
        """Passes what has been scanned together with the words after it, or in a pause alone."""
        usual = 0 if is_pause else min(LAG_CHARS, FIRST_LAG_CHARS + len(self.text) // 4)
        lag = 0 if is_last else max(usual, self._min_lag_chars)
        self.num_passed = max(min(self.num_scanned, len(self.text) - lag), self.num_passed)

    def next_sentence(self, *, is_last: bool = False) -> Sentence | None:
        """Returns the first sentence that is whole and has not passed."""
        start = self.num_passed
        found = SENTENCE_END.search(self.text, start)
        end = min(found.end() if found else len(self.text), start + MAX_SENTENCE_CHARS)
        is_whole = found is not None or is_last or end - start == MAX_SENTENCE_CHARS
        if not is_whole or end == start:
            return None
        return Sentence(end, self.text[max(start - NUM_CONTEXT_CHARS, 0) : end])

    def pass_sentence(self, sentence: Sentence) -> None:
        self.num_passed = sentence.end
        self._num_calm += 1
        if self._num_calm >= NUM_CALM_SENTENCES and not self._stays_alarmed:
            self.is_alarmed = False


def find_sentence_start(text: str) -> int:
    """Returns where the unfinished sentence at the end begins."""
    return max((found.end() for found in SENTENCE_END.finditer(text)), default=0)
