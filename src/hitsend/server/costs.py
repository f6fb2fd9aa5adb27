"""Sums of what was used, with what it costs where every model in them has a price."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from hitsend.store import Price, UsageRow

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=int | str)

Prices: TypeAlias = Mapping[str, Price]
Total: TypeAlias = dict[str, int | float | None]


def totals(
    rows: Iterable[UsageRow[T]], of: Callable[[UsageRow[T]], K], prices: Prices
) -> dict[K, Total]:
    together: defaultdict[K, list[UsageRow[T]]] = defaultdict(list)
    for row in rows:
        together[of(row)].append(row)
    return {key: total(some, prices) for key, some in together.items()}


def total(rows: Iterable[UsageRow[T]], prices: Prices) -> Total:
    rows = list(rows)
    return {
        "num_turns": sum(row.num_turns for row in rows),
        "num_input_tokens": sum(row.num_input_tokens for row in rows),
        "num_cached_tokens": sum(row.num_cached_tokens for row in rows),
        "num_output_tokens": sum(row.num_output_tokens for row in rows),
        "cost": _cost(rows, prices),
    }


def _cost(rows: Iterable[UsageRow[T]], prices: Prices) -> float | None:
    """None where it cannot be known: a sum without its unknown part would only look like one."""
    cost = 0.0
    for row in rows:
        if (price := prices.get(row.model)) is None:
            return None
        cost += (row.num_input_tokens - row.num_cached_tokens) * price.input
        cost += row.num_cached_tokens * price.cached + row.num_output_tokens * price.output
    return round(cost / 1_000_000, 6)
