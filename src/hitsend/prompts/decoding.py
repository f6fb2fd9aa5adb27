"""How the answer to a prompt is decoded, where several have a say in it."""

from msgspec.structs import replace

from hitsend.messages import Sampling


def laid_over(asked: Sampling, default: Sampling) -> Sampling:
    """What was asked for, field by field, and the default where nothing was. What of the default
    contradicts that, as a temperature does a search for the likeliest, is left out."""
    laid = asked
    for name, value in default.said.items():
        if getattr(asked, name) is None:
            laid = _with(laid, name, value)
    return laid


def _with(sampling: Sampling, name: str, value: object) -> Sampling:
    try:
        return replace(sampling, **{name: value})
    except ValueError:
        return sampling
