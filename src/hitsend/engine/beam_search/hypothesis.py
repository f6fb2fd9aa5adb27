"""A hypothesis of a beam search: the tokens chosen so far, and their joint probability.

Pure values. `beam` decides which hypotheses are kept.
"""

import math
from itertools import takewhile

import msgspec

from hitsend.engine.contract import Candidate, NextTokens

LENGTH_POWER = 0.7
"""The length penalty. At 0 the shortest text wins, because it is the most likely; at 1 a long
one that repeats itself."""


class Choice(msgspec.Struct, frozen=True, gc=False):
    """A chosen token, and the candidates it was chosen from."""

    candidate: Candidate
    among: NextTokens


class Hypothesis(msgspec.Struct, frozen=True):
    choices: tuple[Choice, ...] = ()
    ids: tuple[int, ...] = ()
    text: bytes = b""
    logprob: float = 0.0
    has_ended: bool = False

    @property
    def num_tokens(self) -> int:
        return len(self.ids)

    @property
    def score(self) -> float:
        return self.score_at(self.num_tokens)

    def score_at(self, num_tokens: int) -> float:
        """The score it would have at that length if every further token were certain."""
        return self.logprob / math.pow(max(num_tokens, 1), LENGTH_POWER)

    def num_shared(self, ids: tuple[int, ...]) -> int:
        """The length of the common prefix."""
        pairs = zip(self.ids, ids, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def extend(
        self, candidate: Candidate, among: NextTokens, stops: tuple[bytes, ...]
    ) -> "Hypothesis":
        """Returns it with one more token. It ends with an end token or a complete stop string."""
        extended = Hypothesis(
            (*self.choices, Choice(candidate, among)),
            (*self.ids, candidate.token_id),
            self.text + candidate.piece,
            self.logprob + candidate.logprob,
            candidate.is_end,
        )
        found = [at for stop in stops if (at := extended.text.find(stop)) >= 0]
        return extended._cut(min(found)) if found else extended

    def _cut(self, num_bytes: int) -> "Hypothesis":
        """Ends it before a stop string. Only the text is cut: its probability stays the same."""
        kept: list[Choice] = []
        num_left = num_bytes
        for choice in self.choices:
            if num_left <= 0:
                break
            piece = choice.candidate.piece[:num_left]
            num_left -= len(piece)
            candidate = msgspec.structs.replace(choice.candidate, piece=piece)
            kept.append(Choice(candidate, choice.among))
        return msgspec.structs.replace(
            self, choices=tuple(kept), text=self.text[:num_bytes], has_ended=True
        )
