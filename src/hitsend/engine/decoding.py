"""The decoding policies, and what each comes to: the one place where they part.

`sample` and `greedy` are one request in which the model's server chooses every token; `beam` is a
search of ours over what may come next. How an engine is asked either is its own business.
"""

from collections.abc import AsyncGenerator, Callable
from typing import assert_never

import msgspec

from hitsend.engine.contract import Generation, Prompt
from hitsend.errors import Refused
from hitsend.messages import Sampling


def decode(
    prompt: Prompt,
    sampling: Sampling,
    sample: Callable[[Sampling], AsyncGenerator[Generation, None]],
    search: Callable[[], AsyncGenerator[Generation, None]] | None = None,
) -> AsyncGenerator[Generation, None]:
    match sampling.policy:
        case None | "sample":
            return sample(sampling)
        case "greedy":
            return sample(msgspec.structs.replace(sampling, temperature=0.0))
        case "beam":
            if search is None:
                raise cannot_foresee(prompt.model)
            return search()
        case _:
            assert_never(sampling.policy)


def for_model(sampling: Sampling, *, can_foresee: bool) -> Sampling:
    """For what nobody asked of this very model, as a default: where it cannot search it samples."""
    if sampling.policy != "beam" or can_foresee:
        return sampling
    return msgspec.structs.replace(sampling, policy="sample")


def cannot_foresee(model: str) -> Refused:
    return Refused(
        f"{model} runs on a server that does not tell what may come next, which beam search "
        "needs. Choose another policy.",
        param="sampling.policy",
    )
