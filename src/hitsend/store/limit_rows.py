"""Limits, budgets, groups, prices and usage as values. They know no SQL."""

from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from hitsend.store.rows import LimitScope

T = TypeVar("T", bound=int | str)

Maximum: TypeAlias = Annotated[int, Meta(ge=0, le=10**12)] | None
"""None means unlimited."""

BudgetScope: TypeAlias = Literal["user", "key", "group", "address"]
Period: TypeAlias = Literal["minute", "day"]


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    requests_per_minute: Maximum = None
    tokens_per_minute: Maximum = None
    tokens_per_day: Maximum = None
    storage_mb: Maximum = None
    """Limits a person's conversations and records. A group's limit is for each of its people."""


class LimitItem(msgspec.Struct, frozen=True):
    scope: LimitScope
    target: str
    target_name: str
    requests_per_minute: int | None
    tokens_per_minute: int | None
    tokens_per_day: int | None
    storage_mb: int | None


class KeyItem(msgspec.Struct, frozen=True):
    """An API key as an administrator sees it."""

    id: str
    user_id: str
    user_name: str
    label: str


class Caller(msgspec.Struct, frozen=True):
    """The person, key and address whose token budgets a turn uses."""

    user_id: str
    key_id: str | None = None
    address: str | None = None


class EffectiveLimits(msgspec.Struct, frozen=True):
    """The limits that apply to one call."""

    user: Limit
    key: Limit
    address: Limit
    group: Limit
    """Only its tokens per day apply, shared by everyone in the group."""
    group_id: str | None


class Budget(msgspec.Struct, frozen=True):
    """Tokens that may be used in a period, and those that were."""

    scope: BudgetScope
    target: str
    period: Period
    limit: int
    num_spent: int = 0
    resets_at: float = 0.0

    @property
    def num_left(self) -> int:
        return max(self.limit - self.num_spent, 0)


class Group(msgspec.Struct, frozen=True):
    id: str
    name: str
    num_people: int
    features: tuple[str, ...] | None = None
    """Features of tools that its people may turn on. None: all that there are."""


class Price(msgspec.Struct, frozen=True):
    """Prices of a million tokens."""

    model: str
    input: float
    cached: float
    output: float


class UsageRow(msgspec.Struct, Generic[T], frozen=True):
    """Tokens of one model used on a day, or by a person or group, which `of` names."""

    of: T
    model: str
    num_turns: int
    num_input_tokens: int
    """Includes the cached ones."""
    num_cached_tokens: int
    num_output_tokens: int
