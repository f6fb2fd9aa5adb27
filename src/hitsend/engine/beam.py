"""Beam search: the likeliest of several answers that are followed side by side.

It only asks what may come next, and adds up. Hypotheses are compared by their log-probability
over a power of their length, since every further token makes a text less likely: so the score of
one that goes on can still rise, at best to what it would be if all it may still say were certain.
The search is over when even that is no more than the score of the best that has ended; or, so that
it comes to an end, when as many have ended as are followed and none that goes on is ahead.

What all of them begin with is certain, and told at once; and so is, after each step, how much was
evaluated. Whom it asks is not known here.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import inf

import msgspec

from hitsend.engine.beam_telling import Telling
from hitsend.engine.contract import Finished, Generated, Generation, Outlook, PromptWasRead
from hitsend.engine.hypothesis import Hypothesis
from hitsend.messages import MAX_BEAM_TOKENS, Sampling, Usage

NOTHING = Generated("", ())


@dataclass(frozen=True, slots=True)
class Questions:
    """What a search asks of a model about one prompt."""

    read: Callable[[], Awaitable[PromptWasRead]]
    after: Callable[[tuple[int, ...], int], Awaitable[Outlook]]
    """What may come after the prompt and these tokens; at least so many, if there are."""


async def beam_search(
    questions: Questions, sampling: Sampling, num_max_tokens: int, asked_at: float
) -> AsyncGenerator[Generation, None]:
    queued_ms = _since(asked_at)
    read = msgspec.structs.replace(await questions.read(), queued_ms=queued_ms)
    yield read
    num_most = min(num_max_tokens, MAX_BEAM_TOKENS)
    search, telling = _Search(questions, sampling, num_most), Telling(sampling)
    for _ in range(num_most):
        num_before = search.num_evaluated_tokens
        await search.step()
        told = None if search.is_over else telling.agreed(search.candidates, _since(asked_at))
        num_searched = search.num_evaluated_tokens - num_before
        yield msgspec.structs.replace(told or NOTHING, num_searched_tokens=num_searched)
        if search.is_over:
            break
    best = search.best
    if told := telling.rest(best, _since(asked_at)):
        yield told
    yield Finished(
        "stop" if best.has_ended else "length",
        Usage(
            num_input_tokens=read.num_cached_tokens + read.num_evaluated_tokens,
            num_cached_tokens=read.num_cached_tokens,
            num_output_tokens=best.num_tokens,
            queued_ms=queued_ms,
            prefill_ms=read.prefill_ms,
            decode_ms=round(_since(asked_at) - queued_ms - read.prefill_ms, 1),
            num_searched_tokens=search.num_evaluated_tokens,
        ),
    )


class _Search:
    def __init__(self, questions: Questions, sampling: Sampling, num_max_tokens: int) -> None:
        self.num_evaluated_tokens = 0
        self._num_max_tokens = num_max_tokens
        self._questions = questions
        self._stops = tuple(stop.encode() for stop in sampling.stop or ())
        self._num_beams = sampling.num_followed
        # Even if as many of them end as are followed, enough are left to go on with.
        self._num_asked = max(2 * self._num_beams, sampling.top_logprobs or 0)
        self._live = [Hypothesis()]
        self._ended: list[Hypothesis] = []
        """At most one: the best."""
        self._num_ended = 0
        self._last_asked: tuple[int, ...] = ()

    @property
    def candidates(self) -> list[Hypothesis]:
        """All that may still become the answer."""
        return self._live + self._ended

    @property
    def best(self) -> Hypothesis:
        return max(self.candidates, key=_score)

    @property
    def is_over(self) -> bool:
        """None that goes on is ahead of the best that has ended; and none can be, or enough did."""
        best = self.best
        if not best.has_ended:
            return False
        reachable = [one.score_at(self._num_max_tokens) for one in self._live]
        return self._num_ended >= self._num_beams or best.score >= max(reachable, default=-inf)

    async def step(self) -> None:
        """Each that is followed grows by one token, and the likeliest of all are kept."""
        grown: list[Hypothesis] = []
        for hypothesis in _in_cached_order(self._live, self._last_asked):
            grown += await self._grow(hypothesis)
        ranked = nlargest(2 * self._num_beams, grown, key=_score)
        ended = [one for one in ranked if one.has_ended]
        self._num_ended += sum(one.has_ended for one in ranked[: self._num_beams])
        self._ended = nlargest(1, self._ended + ended, key=_score)
        self._live = [one for one in ranked if not one.has_ended][: self._num_beams]

    async def _grow(self, hypothesis: Hypothesis) -> list[Hypothesis]:
        outlook = await self._questions.after(hypothesis.ids, self._num_asked)
        self._last_asked = hypothesis.ids
        self.num_evaluated_tokens += outlook.num_evaluated_tokens
        return [hypothesis.grown(one, outlook, self._stops) for one in outlook.candidates]


def _in_cached_order(
    hypotheses: Sequence[Hypothesis], last_asked: tuple[int, ...]
) -> Iterator[Hypothesis]:
    """Next is always the one that shares most with what was asked last: a model that remembers
    that has the least to evaluate."""
    waiting = list(hypotheses)
    while waiting:
        nearest = max(waiting, key=lambda one: one.num_shared(last_asked))
        waiting.remove(nearest)
        last_asked = nearest.ids
        yield nearest


def _score(hypothesis: Hypothesis) -> float:
    return hypothesis.score


def _since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 1)
