"""How much of what was found there is room for."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def within(num_chars: float, found: Sequence[T], length: Callable[[T], int]) -> list[T]:
    """The first that have room together. One that is too long does not keep out the others."""
    kept = []
    for one in found:
        if length(one) <= num_chars:
            num_chars -= length(one)
            kept.append(one)
    return kept
