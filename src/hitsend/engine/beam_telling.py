"""What of a search is told while it goes on: what all hypotheses begin with, and no more.

The beginning of what may become a stop string is held back until it is clear that it does not.
How hypotheses are found is not known here.
"""

import codecs
from collections.abc import Sequence

from hitsend.engine.contract import Candidate, Generated
from hitsend.engine.hypothesis import Choice, Hypothesis
from hitsend.messages import Alternative, Sampling, Token

NEW_DECODER = codecs.getincrementaldecoder("utf-8")


class Telling:
    def __init__(self, sampling: Sampling) -> None:
        self._stops = tuple(stop.encode() for stop in sampling.stop or ())
        self._num_top = sampling.top_logprobs or 0
        self._num_told = 0
        self._decoder = NEW_DECODER("replace")

    def agreed(self, hypotheses: Sequence[Hypothesis], at_ms: float) -> Generated | None:
        """What is certain by now, unless it was told before."""
        one, *others = hypotheses
        num_shared = min((other.num_shared(one.ids) for other in others), default=one.num_tokens)
        shared = one.choices[:num_shared]
        return self._tell(shared[: self._num_tellable(shared)], at_ms)

    def rest(self, best: Hypothesis, at_ms: float) -> Generated | None:
        """The answer was found."""
        return self._tell(best.choices, at_ms, is_final=True)

    def _tell(
        self, choices: Sequence[Choice], at_ms: float, *, is_final: bool = False
    ) -> Generated | None:
        new = choices[self._num_told :]
        self._num_told += len(new)
        last = len(new) - 1
        tokens = tuple(
            self._token(choice, at_ms, is_last=is_final and place == last)
            for place, choice in enumerate(new)
        )
        return Generated("".join([token.text for token in tokens]), tokens) if tokens else None

    def _token(self, choice: Choice, at_ms: float, *, is_last: bool) -> Token:
        chosen = choice.candidate
        text = self._decoder.decode(chosen.piece, is_last)
        top = tuple(map(_alternative, choice.outlook.candidates[: self._num_top]))
        return Token(chosen.token_id, text, chosen.logprob, at_ms, top)

    def _num_tellable(self, choices: Sequence[Choice]) -> int:
        """How many of them cannot belong to a stop string."""
        text = b"".join([choice.candidate.piece for choice in choices])
        num_held = max((_num_begun(text, stop) for stop in self._stops), default=0)
        num_tellable = len(choices)
        while num_tellable and num_held > 0:
            num_tellable -= 1
            num_held -= len(choices[num_tellable].candidate.piece)
        return num_tellable


def _num_begun(text: bytes, stop: bytes) -> int:
    """How much of the stop string the text may end with the beginning of."""
    lengths = range(min(len(text), len(stop) - 1), 0, -1)
    return next((length for length in lengths if text.endswith(stop[:length])), 0)


def _alternative(candidate: Candidate) -> Alternative:
    text = candidate.piece.decode("utf-8", "replace")
    return Alternative(candidate.token_id, text, candidate.logprob)
