"""Ends a generation before the model does, with the usage so far."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from msgspec.structs import replace

from hitsend.engine.contract import Finished, Generated, GenerationStep, Prefilled
from hitsend.messages import Usage


async def end_early(
    generation: AsyncGenerator[GenerationStep, None], is_over: Callable[[], bool]
) -> AsyncGenerator[GenerationStep, None]:
    """Asks `is_over` after each step with tokens, once that was taken."""
    usage, prefilled_at = Usage(), time.perf_counter()
    async with aclosing(generation):
        async for step in generation:
            yield step
            match step:
                case Prefilled():
                    usage, prefilled_at = _prompt_usage(step), time.perf_counter()
                case Generated(tokens=tokens):
                    num_output_tokens = usage.num_output_tokens + len(tokens)
                    usage = replace(usage, num_output_tokens=num_output_tokens)
                    if is_over():
                        decode_ms = round((time.perf_counter() - prefilled_at) * 1000, 1)
                        yield Finished("stop", replace(usage, decode_ms=decode_ms))
                        return


def _prompt_usage(prefilled: Prefilled) -> Usage:
    return Usage(
        num_input_tokens=prefilled.num_cached_tokens + prefilled.num_evaluated_tokens,
        num_cached_tokens=prefilled.num_cached_tokens,
        queued_ms=prefilled.queued_ms,
        prefill_ms=prefilled.prefill_ms,
    )
