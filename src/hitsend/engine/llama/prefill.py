"""Prefills a prompt on llama.cpp in small steps, so that it can be preempted quickly.

llama.cpp notices a closed connection only between two batches, and on a slow machine one batch
takes more than a second. So each request covers a little more of the prompt than the one before.
The first starts where the model's KV cache of the prompt ends: a request for less than is cached
would make llama.cpp drop the rest.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from hitsend.engine.contract import Generated, GenerationStep, Prefilled, PrefillResult, Prompt
from hitsend.engine.http import HttpClient
from hitsend.engine.idle_queue import IdleQueue
from hitsend.engine.llama.completion import prefill

STEP_S = 0.2
"""The target duration of a step, which is how long a preempting answer may wait. A batch of 16
tokens is a fifth slower for each token than one of 128, but uses only idle time."""
MIN_STEP_TOKENS, MAX_STEP_TOKENS = 16, 128
MAX_CACHED_TOKENS = 200_000
"""More than a model's cache holds. Assuming too much to be cached costs at most one long step."""


class Prefiller:
    """One for each model. It has to see every generation, to know what the KV cache holds."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._cached: list[tuple[int, ...]] = []
        """Token sequences that are assumed to be in the model's KV cache, oldest first."""
        self._num_step_tokens = MIN_STEP_TOKENS

    async def prefill(self, prompt: Prompt, idle_queue: IdleQueue) -> PrefillResult:
        """Runs until the prompt is complete or the queue is preempted. Skips a prompt that is the
        start of a longer cached one: prefilling it would cut the longer one short."""
        if self._is_prefix_of_cached(prompt.ids):
            return PrefillResult(num_cached_tokens=len(prompt.ids), is_complete=True)
        steps: list[Prefilled] = []
        num_done = self._num_cached(prompt.ids)
        while not steps or (num_done < len(prompt.ids) and not idle_queue.is_preempted):
            num_done = min(num_done + self._num_step_tokens, len(prompt.ids))
            step = await prefill(self._http, prompt.ids[:num_done])
            self._add_cached(prompt.ids[:num_done])
            self._adapt_step_size(step)
            steps.append(step)
        return PrefillResult(
            num_cached_tokens=steps[0].num_cached_tokens,
            num_evaluated_tokens=num_done - steps[0].num_cached_tokens,
            prefill_ms=round(sum(step.prefill_ms for step in steps), 1),
            is_complete=num_done == len(prompt.ids),
        )

    async def track(
        self, prompt: Prompt, generation: AsyncGenerator[GenerationStep, None]
    ) -> AsyncGenerator[GenerationStep, None]:
        """Passes a generation on, and records which tokens it leaves in the KV cache."""
        ids: list[int] = []
        try:
            async with aclosing(generation):
                async for step in generation:
                    if isinstance(step, Prefilled):
                        ids += prompt.ids
                    elif isinstance(step, Generated):
                        ids += [token.token_id for token in step.tokens]
                    yield step
        finally:
            if ids:
                self._add_cached(tuple(ids))

    def _is_prefix_of_cached(self, ids: tuple[int, ...]) -> bool:
        longer = (cached for cached in self._cached if len(cached) > len(ids))
        return any(cached[: len(ids)] == ids for cached in longer)

    def _num_cached(self, ids: tuple[int, ...]) -> int:
        return max((_num_common(ids, cached) for cached in self._cached), default=0)

    def _add_cached(self, ids: tuple[int, ...]) -> None:
        """Replaces the cached sequences that these ids continue."""
        kept = [cached for cached in self._cached if ids[: len(cached)] != cached]
        self._cached = [*kept, ids]
        num_tokens = sum(map(len, self._cached))
        while num_tokens > MAX_CACHED_TOKENS:
            num_tokens -= len(self._cached.pop(0))

    def _adapt_step_size(self, step: Prefilled) -> None:
        num_tokens = int(STEP_S * step.num_evaluated_tokens / max(step.prefill_ms, 1) * 1000)
        self._num_step_tokens = min(max(num_tokens, MIN_STEP_TOKENS), MAX_STEP_TOKENS)


def _num_common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Returns the length of the common prefix. A binary search over slices: comparing token by
    token in Python takes too long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
