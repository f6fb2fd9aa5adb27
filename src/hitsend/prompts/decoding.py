"""How the answer to a prompt is decoded, where several have a say in it."""

from msgspec.structs import asdict, replace

from hitsend.messages import Sampling

UNSAID = asdict(Sampling())
HARMLESS = frozenset({"max_tokens", "stop", "seed", "top_logprobs"})
"""Contradicts no policy, but for the length of a search."""


def laid_over(asked: Sampling, default: Sampling) -> Sampling:
    """What was asked for, field by field, and the default where nothing was. Where the two
    contradict each other, as a temperature does a search for the likeliest, the default yields."""
    silent = [name for name, value in asdict(asked).items() if value == UNSAID[name]]
    is_search = asked.policy == "beam"  # which has a most of its own
    try:
        return replace(asked, **{name: getattr(default, name) for name in silent})
    except ValueError:
        harmless = HARMLESS.intersection(silent) - ({"max_tokens"} if is_search else set())
        return replace(asked, **{name: getattr(default, name) for name in harmless})
