"""Beam search: extends several hypotheses side by side and keeps the most likely ones.

The score of a hypothesis is its log-probability divided by a power of its length, because every
further token makes a text less likely. So the score of a live hypothesis can still rise: at best
to what it would be if all its remaining tokens were certain. The search stops when even that
cannot beat the best finished hypothesis, or when as many have finished as there are beams and
the best of all is finished.

Tokens that all hypotheses share are final and are streamed at once. The search does not know
which engine it queries.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import inf

import msgspec

from hitsend.engine.beam_search.beam_output import BeamOutput
from hitsend.engine.beam_search.hypothesis import Hypothesis
from hitsend.engine.contract import Finished, Generated, GenerationStep, NextTokens, Prefilled
from hitsend.messages import MAX_BEAM_TOKENS, Sampling, Usage

NOTHING = Generated("", ())


@dataclass(frozen=True, slots=True)
class BeamModel:
    """The two requests that a search sends to a model, for one prompt."""

    prefill: Callable[[], Awaitable[Prefilled]]
    next_tokens: Callable[[tuple[int, ...], int], Awaitable[NextTokens]]
    """Given the ids after the prompt, returns that many candidates, if there are so many."""


async def beam_search(
    model: BeamModel, sampling: Sampling, num_max_tokens: int, requested_at: float
) -> AsyncGenerator[GenerationStep, None]:
    queued_ms = _ms_since(requested_at)
    prefilled = msgspec.structs.replace(await model.prefill(), queued_ms=queued_ms)
    yield prefilled
    num_max_tokens = min(num_max_tokens, MAX_BEAM_TOKENS)
    search, output = _Search(model, sampling, num_max_tokens), BeamOutput(sampling)
    for _ in range(num_max_tokens):
        num_before = search.num_evaluated_tokens
        await search.step()
        at_ms = _ms_since(requested_at)
        new = None if search.is_over else output.take_shared(search.candidates, at_ms)
        num_searched = search.num_evaluated_tokens - num_before
        yield msgspec.structs.replace(new or NOTHING, num_searched_tokens=num_searched)
        if search.is_over:
            break
    best = search.best
    if rest := output.take_rest(best, _ms_since(requested_at)):
        yield rest
    yield Finished(
        "stop" if best.has_ended else "length",
        Usage(
            num_input_tokens=prefilled.num_cached_tokens + prefilled.num_evaluated_tokens,
            num_cached_tokens=prefilled.num_cached_tokens,
            num_output_tokens=best.num_tokens,
            queued_ms=queued_ms,
            prefill_ms=prefilled.prefill_ms,
            decode_ms=round(_ms_since(requested_at) - queued_ms - prefilled.prefill_ms, 1),
            num_searched_tokens=search.num_evaluated_tokens,
        ),
    )


class _Search:
    def __init__(self, model: BeamModel, sampling: Sampling, num_max_tokens: int) -> None:
        self.num_evaluated_tokens = 0
        self._num_max_tokens = num_max_tokens
        self._model = model
        self._stops = tuple(stop.encode() for stop in sampling.stop or ())
        self._num_beams = sampling.num_hypotheses
        # Twice the beams: if half of the candidates end, enough are left to continue with.
        self._num_candidates = max(2 * self._num_beams, sampling.top_logprobs or 0)
        self._live = [Hypothesis()]
        self._best_ended: list[Hypothesis] = []
        """Empty, or one."""
        self._num_ended = 0
        self._last_queried: tuple[int, ...] = ()

    @property
    def candidates(self) -> list[Hypothesis]:
        """All hypotheses that may still become the answer."""
        return self._live + self._best_ended

    @property
    def best(self) -> Hypothesis:
        return max(self.candidates, key=_score)

    @property
    def is_over(self) -> bool:
        """Stop when no live beam can beat the best finished one, or enough have finished."""
        best = self.best
        if not best.has_ended:
            return False
        reachable = [one.score_at(self._num_max_tokens) for one in self._live]
        return self._num_ended >= self._num_beams or best.score >= max(reachable, default=-inf)

    async def step(self) -> None:
        """Extends each live hypothesis by one token and keeps the most likely results."""
        extended: list[Hypothesis] = []
        for hypothesis in _in_cache_order(self._live, self._last_queried):
            extended += await self._extend(hypothesis)
        ranked = nlargest(2 * self._num_beams, extended, key=_score)
        ended = [one for one in ranked if one.has_ended]
        self._num_ended += sum(one.has_ended for one in ranked[: self._num_beams])
        self._best_ended = nlargest(1, self._best_ended + ended, key=_score)
        self._live = [one for one in ranked if not one.has_ended][: self._num_beams]

    async def _extend(self, hypothesis: Hypothesis) -> list[Hypothesis]:
        found = await self._model.next_tokens(hypothesis.ids, self._num_candidates)
        self._last_queried = hypothesis.ids
        self.num_evaluated_tokens += found.num_evaluated_tokens
        return [hypothesis.extend(one, found, self._stops) for one in found.candidates]


def _in_cache_order(
    hypotheses: Sequence[Hypothesis], last_queried: tuple[int, ...]
) -> Iterator[Hypothesis]:
    """Yields next the hypothesis that shares the longest prefix with the previous one, so that the
    KV cache is reused as much as possible."""
    waiting = list(hypotheses)
    while waiting:
        nearest = max(waiting, key=lambda one: one.num_shared(last_queried))
        waiting.remove(nearest)
        last_queried = nearest.ids
        yield nearest


def _score(hypothesis: Hypothesis) -> float:
    return hypothesis.score


def _ms_since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 1)
