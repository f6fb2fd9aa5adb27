"""The decoding policies: the one place that decides between sampling and beam search.

`sample` and `greedy` are one request in which the model's server chooses every token. `beam` is
our own search over the probabilities of the next token. Each engine supplies both.
"""

from collections.abc import AsyncGenerator, Callable
from typing import assert_never

import msgspec

from hitsend.engine.contract import GenerationStep, Prompt
from hitsend.errors import Refused
from hitsend.messages import Sampling


def decode(
    prompt: Prompt,
    sampling: Sampling,
    sample: Callable[[Sampling], AsyncGenerator[GenerationStep, None]],
    search: Callable[[], AsyncGenerator[GenerationStep, None]] | None = None,
) -> AsyncGenerator[GenerationStep, None]:
    match sampling.policy:
        case None | "sample":
            return sample(sampling)
        case "greedy":
            return sample(msgspec.structs.replace(sampling, temperature=0.0))
        case "beam":
            if search is None:
                raise beam_unsupported(prompt.model)
            return search()
        case _:
            assert_never(sampling.policy)


def fall_back_to_sampling(sampling: Sampling, *, has_next_token_probs: bool) -> Sampling:
    """Replaces `beam` with `sample` for a model that cannot search. For defaults only: an explicit
    request for beam search is refused instead."""
    if sampling.policy != "beam" or has_next_token_probs:
        return sampling
    return msgspec.structs.replace(sampling, policy="sample")


def beam_unsupported(model: str) -> Refused:
    return Refused(
        f"{model} runs on a server that does not tell what may come next, which beam search "
        "needs. Choose another policy.",
        param="sampling.policy",
    )
