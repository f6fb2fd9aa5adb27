"""Work on many rows, cut into portions: between two of them others may write."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

MOST_ROWS = 200
MOST_CHARS = 1_000_000
"""Of one portion, unless a single row has more. To write it takes some hundredths of a second."""


def portions(rows: Iterable[T], num_chars: Callable[[T], int] = lambda _: 0) -> Iterator[list[T]]:
    """All rows in their order. `num_chars` tells how long one is."""
    portion: list[T] = []
    total = 0
    for row in rows:
        if portion and (len(portion) == MOST_ROWS or total + num_chars(row) > MOST_CHARS):
            yield portion
            portion, total = [], 0
        portion.append(row)
        total += num_chars(row)
    if portion:
        yield portion
