"""The output of a beam search while it runs: the tokens that all hypotheses share.

Tokens that may be the start of a stop string are held back until it is clear that they are not.
"""

import codecs
from collections.abc import Sequence

from hitsend.engine.beam_search.hypothesis import Choice, Hypothesis
from hitsend.engine.contract import Candidate, Generated
from hitsend.messages import Alternative, Sampling, Token

NEW_DECODER = codecs.getincrementaldecoder("utf-8")


class BeamOutput:
    def __init__(self, sampling: Sampling) -> None:
        self._stops = tuple(stop.encode() for stop in sampling.stop or ())
        self._num_top = sampling.top_logprobs or 0
        self._num_taken = 0
        self._decoder = NEW_DECODER("replace")

    def take_shared(self, hypotheses: Sequence[Hypothesis], at_ms: float) -> Generated | None:
        """Returns the tokens that all hypotheses share and that were not returned before."""
        one, *others = hypotheses
        num_shared = min((other.num_shared(one.ids) for other in others), default=one.num_tokens)
        shared = one.choices[:num_shared]
        return self._take(shared[: self._num_safe(shared)], at_ms)

    def take_rest(self, best: Hypothesis, at_ms: float) -> Generated | None:
        """Returns the remaining tokens of the answer."""
        return self._take(best.choices, at_ms, is_final=True)

    def _take(
        self, choices: Sequence[Choice], at_ms: float, *, is_final: bool = False
    ) -> Generated | None:
        new = choices[self._num_taken :]
        self._num_taken += len(new)
        last = len(new) - 1
        tokens = tuple(
            self._token(choice, at_ms, is_last=is_final and index == last)
            for index, choice in enumerate(new)
        )
        return Generated("".join([token.text for token in tokens]), tokens) if tokens else None

    def _token(self, choice: Choice, at_ms: float, *, is_last: bool) -> Token:
        chosen = choice.candidate
        text = self._decoder.decode(chosen.piece, is_last)
        top = tuple(map(_alternative, choice.among.candidates[: self._num_top]))
        return Token(chosen.token_id, text, chosen.logprob, at_ms, top)

    def _num_safe(self, choices: Sequence[Choice]) -> int:
        """Returns how many of the first choices cannot belong to a stop string."""
        text = b"".join([choice.candidate.piece for choice in choices])
        num_held = max((_num_stop_bytes(text, stop) for stop in self._stops), default=0)
        num_safe = len(choices)
        while num_safe and num_held > 0:
            num_safe -= 1
            num_held -= len(choices[num_safe].candidate.piece)
        return num_safe


def _num_stop_bytes(text: bytes, stop: bytes) -> int:
    """Returns the length of the longest proper prefix of `stop` that `text` ends with."""
    lengths = range(min(len(text), len(stop) - 1), 0, -1)
    return next((length for length in lengths if text.endswith(stop[:length])), 0)


def _alternative(candidate: Candidate) -> Alternative:
    text = candidate.piece.decode("utf-8", "replace")
    return Alternative(candidate.token_id, text, candidate.logprob)
