"""An answer that a search follows: the tokens chosen so far, and how likely they are together.

Pure values. Which hypotheses are kept is the search's business.
"""

import math
from itertools import takewhile

import msgspec

from hitsend.engine.contract import Candidate, Outlook

LENGTH_POWER = 0.7
"""At 0 the shortest text wins, because it is the likeliest; at 1 one that rambles on surely."""


class Choice(msgspec.Struct, frozen=True, gc=False):
    """A token, and among which it was chosen."""

    candidate: Candidate
    outlook: Outlook


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
        """With so many tokens, if whatever is added to it were certain."""
        return self.logprob / math.pow(max(num_tokens, 1), LENGTH_POWER)

    def num_shared(self, ids: tuple[int, ...]) -> int:
        """How many tokens both begin with."""
        pairs = zip(self.ids, ids, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def grown(
        self, candidate: Candidate, outlook: Outlook, stops: tuple[bytes, ...]
    ) -> "Hypothesis":
        """With one more token, which ends it if it is an end or completes a stop string."""
        grown = Hypothesis(
            (*self.choices, Choice(candidate, outlook)),
            (*self.ids, candidate.token_id),
            self.text + candidate.piece,
            self.logprob + candidate.logprob,
            candidate.is_end,
        )
        found = [at for stop in stops if (at := grown.text.find(stop)) >= 0]
        return grown._cut(min(found)) if found else grown

    def _cut(self, num_bytes: int) -> "Hypothesis":
        """Ended before a stop string. It was no less likely for that: only its text ends there."""
        kept: list[Choice] = []
        num_left = num_bytes
        for choice in self.choices:
            if num_left <= 0:
                break
            piece = choice.candidate.piece[:num_left]
            num_left -= len(piece)
            candidate = msgspec.structs.replace(choice.candidate, piece=piece)
            kept.append(Choice(candidate, choice.outlook))
        return msgspec.structs.replace(
            self, choices=tuple(kept), text=self.text[:num_bytes], has_ended=True
        )
