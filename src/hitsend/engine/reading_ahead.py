"""Reading a prompt ahead on llama.cpp, in small steps, so that whoever comes waits for one at most.

llama.cpp notices that nobody listens any more only between two batches, and on a slow machine a
batch takes more than a second. So each request reads a little more of the prompt than the one
before. The first begins where the model's own memory of the prompt ends: asked for less than it
holds, llama.cpp would forget the rest.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from hitsend.engine.completion import prefill
from hitsend.engine.contract import Generated, Generation, Prefilled, Prompt, PromptWasRead
from hitsend.engine.http import Http
from hitsend.engine.spare_time import SpareTime

STEP_S = 0.2
"""How long a step should take: a person who comes waits for the rest of one. A batch of 16 tokens
is read a fifth slower than one of 128, in time that nobody else wants."""
LEAST_STEP_TOKENS, MOST_STEP_TOKENS = 16, 128
MAX_REMEMBERED_TOKENS = 200_000
"""More than a model's cache holds. Remembering what it forgot costs no more than a long step."""


class ReadingAhead:
    """On one model, of which it has to hear what else was read."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._remembered: list[tuple[int, ...]] = []
        self._num_step_tokens = LEAST_STEP_TOKENS

    async def read(self, prompt: Prompt, spare_time: SpareTime) -> Prefilled:
        """As far as the spare time lasts. What something longer begins with is not read again: that
        would be cut to it."""
        if self._goes_on_from(prompt.ids):
            return Prefilled(num_cached_tokens=len(prompt.ids), is_whole=True)
        steps: list[PromptWasRead] = []
        num_read = self._num_remembered(prompt.ids)
        while not steps or (num_read < len(prompt.ids) and not spare_time.is_over):
            num_read = min(num_read + self._num_step_tokens, len(prompt.ids))
            step = await prefill(self._http, prompt.ids[:num_read])
            self._remember(prompt.ids[:num_read])
            self._keep_pace(step)
            steps.append(step)
        return Prefilled(
            num_cached_tokens=steps[0].num_cached_tokens,
            num_evaluated_tokens=num_read - steps[0].num_cached_tokens,
            prefill_ms=round(sum(step.prefill_ms for step in steps), 1),
            is_whole=num_read == len(prompt.ids),
        )

    async def remembered(
        self, prompt: Prompt, generation: AsyncGenerator[Generation, None]
    ) -> AsyncGenerator[Generation, None]:
        """The same, while what is read and said in it is remembered."""
        ids: list[int] = []
        try:
            async with aclosing(generation):
                async for step in generation:
                    if isinstance(step, PromptWasRead):
                        ids += prompt.ids
                    elif isinstance(step, Generated):
                        ids += [token.token_id for token in step.tokens]
                    yield step
        finally:
            if ids:
                self._remember(tuple(ids))

    def _goes_on_from(self, ids: tuple[int, ...]) -> bool:
        longer = (read for read in self._remembered if len(read) > len(ids))
        return any(read[: len(ids)] == ids for read in longer)

    def _num_remembered(self, ids: tuple[int, ...]) -> int:
        return max((_num_common(ids, read) for read in self._remembered), default=0)

    def _remember(self, ids: tuple[int, ...]) -> None:
        """In place of what it goes on from."""
        kept = [read for read in self._remembered if ids[: len(read)] != read]
        self._remembered = [*kept, ids]
        num_tokens = sum(map(len, self._remembered))
        while num_tokens > MAX_REMEMBERED_TOKENS:
            num_tokens -= len(self._remembered.pop(0))

    def _keep_pace(self, step: PromptWasRead) -> None:
        num_tokens = int(STEP_S * step.num_evaluated_tokens / max(step.prefill_ms, 1) * 1000)
        self._num_step_tokens = min(max(num_tokens, LEAST_STEP_TOKENS), MOST_STEP_TOKENS)


def _num_common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many tokens both begin with. Found by halves: token by token takes too long."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least
