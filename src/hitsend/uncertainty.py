"""Mean entropy and surprisal of an answer's tokens. Tokens without probabilities are skipped."""

import math
from collections.abc import Iterable

from msgspec import UNSET, UnsetType

from hitsend.messages import Alternative, Token

NUM_DECIMALS = 3


class Uncertainty:
    def __init__(self) -> None:
        self._entropy, self._num_with_top = 0.0, 0
        self._surprisal, self._num_with_logprob = 0.0, 0

    def add(self, tokens: Iterable[Token]) -> None:
        for token in tokens:
            if token.top:
                self._entropy += entropy_bits(token.top)
                self._num_with_top += 1
            if token.logprob is not None:
                self._surprisal -= token.logprob / math.log(2)
                self._num_with_logprob += 1

    @property
    def entropy(self) -> float | UnsetType:
        return _mean(self._entropy, self._num_with_top)

    @property
    def surprisal(self) -> float | UnsetType:
        return _mean(self._surprisal, self._num_with_logprob)


def entropy_bits(top: Iterable[Alternative]) -> float:
    """A lower bound: the probability mass outside of `top` counts as one token."""
    entropy, rest = 0.0, 1.0
    for alternative in top:
        probability = math.exp(alternative.logprob)
        entropy -= probability * alternative.logprob
        rest -= probability
    if rest > 0:
        entropy -= rest * math.log(rest)
    return max(entropy, 0.0) / math.log(2)


def _mean(total: float, count: int) -> float | UnsetType:
    return round(total / count, NUM_DECIMALS) if count else UNSET
