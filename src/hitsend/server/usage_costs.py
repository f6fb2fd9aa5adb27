"""Totals of token usage, with their cost if every model among them has a price."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from hitsend.store import Price, UsageRow
from hitsend.wire.responses import TokenUsage

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=int | str)

Prices: TypeAlias = Mapping[str, Price]


def totals(
    rows: Iterable[UsageRow[T]], key_of: Callable[[UsageRow[T]], K], prices: Prices
) -> dict[K, TokenUsage]:
    grouped: defaultdict[K, list[UsageRow[T]]] = defaultdict(list)
    for row in rows:
        grouped[key_of(row)].append(row)
    return {key: total(group, prices) for key, group in grouped.items()}


def total(rows: Iterable[UsageRow[T]], prices: Prices) -> TokenUsage:
    rows = list(rows)
    return TokenUsage(
        num_turns=sum(row.num_turns for row in rows),
        num_input_tokens=sum(row.num_input_tokens for row in rows),
        num_cached_tokens=sum(row.num_cached_tokens for row in rows),
        num_output_tokens=sum(row.num_output_tokens for row in rows),
        cost=_cost(rows, prices),
    )


def _cost(rows: Iterable[UsageRow[T]], prices: Prices) -> float | None:
    """None if a model has no price: a partial sum would look like the whole."""
    cost = 0.0
    for row in rows:
        if (price := prices.get(row.model)) is None:
            return None
        cost += (row.num_input_tokens - row.num_cached_tokens) * price.input
        cost += row.num_cached_tokens * price.cached + row.num_output_tokens * price.output
    return round(cost / 1_000_000, 6)
