"""Limits, groups, prices and what was used, as values. They know no SQL."""

from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from hitsend.store.rows import LimitScope

T = TypeVar("T", bound=int | str)

Most: TypeAlias = Annotated[int, Meta(ge=0, le=10**12)] | None
"""None is without a limit."""

BudgetScope: TypeAlias = Literal["user", "key", "group", "address"]
Span: TypeAlias = Literal["minute", "day"]


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    requests_per_minute: Most = None
    tokens_per_minute: Most = None
    tokens_per_day: Most = None


class LimitLine(msgspec.Struct, frozen=True):
    scope: LimitScope
    target: str
    target_name: str
    requests_per_minute: int | None
    tokens_per_minute: int | None
    tokens_per_day: int | None


class KeyLine(msgspec.Struct, frozen=True):
    """A key as an administrator sees it: whose, and what they call it."""

    id: str
    user_id: str
    user_name: str
    label: str


class Caller(msgspec.Struct, frozen=True):
    """Whose tokens a turn takes."""

    user_id: str
    key_id: str | None = None
    address: str | None = None


class Bounds(msgspec.Struct, frozen=True):
    """What holds for one call."""

    user: Limit
    key: Limit
    address: Limit
    group: Limit
    """Only its day is shared by all who are in it."""
    group_id: str | None


class Budget(msgspec.Struct, frozen=True):
    """Tokens that may be used within a while, and those that were."""

    scope: BudgetScope
    target: str
    span: Span
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


class Price(msgspec.Struct, frozen=True):
    """Of a million tokens."""

    model: str
    input: float
    cached: float
    output: float


class UsageRow(msgspec.Struct, Generic[T], frozen=True):
    """What was used of a model: on a day, or by a person or a group."""

    of: T
    model: str
    num_turns: int
    num_input_tokens: int
    """With the cached ones."""
    num_cached_tokens: int
    num_output_tokens: int
