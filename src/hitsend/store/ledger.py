"""The ledger of tokens, one row for each turn. The row holds the prompt's tokens and a reservation
for the answer while the turn runs, and the tokens used afterwards.

Reserving is part of the transaction that stores the turn, so concurrent turns never exceed a
limit together. Where an engine only estimates prompt tokens, a turn may exceed it by the error
of the estimate.

A client address is stored only while addresses are limited, and for a minute.
"""

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from msgspec import structs
from sqlalchemy import ColumnElement, Connection, bindparam, exists, func, insert, select, update

from hitsend.allowance import DAY_S, MINUTE_S, Allowance
from hitsend.errors import QuotaSpent, TooFast
from hitsend.store.database import Database, reads, writes
from hitsend.store.limit_rows import Budget, BudgetScope, Caller, EffectiveLimits, Period
from hitsend.store.limits import Limits
from hitsend.store.prepared import Prepared
from hitsend.store.rows import NewTurn
from hitsend.store.schema import COUNTED_TOKENS, ledger, turns, users

MIN_ANSWER_TOKENS = 16
"""A turn that could not have at least this much of an answer is refused."""

OWNER_COLUMNS: dict[BudgetScope, ColumnElement[Any]] = {
    "user": ledger.c.user_id,
    "key": ledger.c.key_id,
    "group": ledger.c.group_id,
    "address": ledger.c.address,
}
OWNER_NAMES: dict[BudgetScope, str] = {
    "user": "you",
    "key": "you",
    "group": "your group",
    "address": "your address",
}

NUM_TOKENS = reduce(operator.add, COUNTED_TOKENS)

GROUP_OF_USER = select(users.c.group_id).where(users.c.id == bindparam("of_user"))
RESERVE = Prepared(
    insert(ledger).values(
        group_id=GROUP_OF_USER.scalar_subquery(), num_cached_tokens=0, num_output_tokens=0
    ),
    *("turn_id", "user_id", "key_id", "surface", "model", "at", "address"),
    *("num_reserved_tokens", "num_input_tokens"),
)

SETTLE = Prepared(
    update(ledger)
    .where(ledger.c.turn_id == bindparam("of_turn"))
    .values(
        num_reserved_tokens=0,
        num_input_tokens=func.coalesce(bindparam("num_input_tokens"), ledger.c.num_input_tokens),
        num_cached_tokens=bindparam("num_cached_tokens"),
        num_output_tokens=func.max(
            bindparam("num_output_tokens"),
            func.min(bindparam("num_searched_tokens"), ledger.c.num_reserved_tokens),
        ),
    )
)
"""Beam search pays for every token it evaluated, up to its reservation: tokens evaluated twice for
lack of KV cache are not charged."""


class Ledger:
    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    @reads
    def budgets(
        self, connection: Connection, limits: EffectiveLimits, caller: Caller
    ) -> list[Budget]:
        """Returns what is left of each limit of the caller, daily ones first."""
        return self._read_budgets(connection, limits, caller)

    def reserve(self, connection: Connection, new: NewTurn) -> int:
        """Reserves tokens for the answer and returns how many it may have: those requested, or
        what is left. Each beam gets the same number. Raises TooFast."""
        min_answer_tokens = min(MIN_ANSWER_TOKENS, new.num_answer_tokens)
        num_needed = new.num_prompt_tokens + min_answer_tokens * new.num_beams
        limits = self._limits.find_with(connection, new.user_id, new.key_id)
        caller = Caller(new.user_id, new.key_id, new.address)
        budgets = self._read_budgets(connection, limits, caller)
        for budget in budgets:
            if budget.num_left < num_needed:
                raise self._refusal(connection, budget, num_needed)
        left = ((budget.num_left - new.num_prompt_tokens) // new.num_beams for budget in budgets)
        num_granted = min([new.num_answer_tokens, *left])
        RESERVE.run(connection, **self._row(new, budgets, num_granted))
        return num_granted

    @writes
    def release_orphans(self, connection: Connection) -> None:
        """Clears reservations of turns that were deleted while they ran and then lost in a crash:
        nothing else would ever settle them."""
        is_running = exists().where(turns.c.id == ledger.c.turn_id, turns.c.state == "running")
        orphans = update(ledger).where(ledger.c.num_reserved_tokens > 0, ~is_running)
        connection.execute(orphans.values(num_reserved_tokens=0))

    async def delete_old_addresses(self) -> None:
        """Reads first, because usually there are none and a write takes the lock."""
        is_old = ledger.c.address.is_not(None), ledger.c.at <= self._database.now() - MINUTE_S
        any_old = select(ledger.c.at).where(*is_old).limit(1)
        if await self._database.read(lambda connection: connection.scalar(any_old)) is None:
            return
        delete_old = update(ledger).where(*is_old).values(address=None)
        await self._database.write(lambda connection: connection.execute(delete_old).close())

    def _row(self, new: NewTurn, budgets: Sequence[Budget], num_granted: int) -> dict[str, object]:
        address = next((budget.target for budget in budgets if budget.scope == "address"), None)
        return {
            "turn_id": new.turn_id,
            "user_id": new.user_id,
            "of_user": new.user_id,
            "key_id": new.key_id,
            "surface": "api" if new.conversation_id is None else "chat",
            "model": new.model,
            "at": self._database.now(),
            "num_reserved_tokens": num_granted * new.num_beams,
            "num_input_tokens": new.num_prompt_tokens,
            "address": address,
        }

    def _read_budgets(
        self, connection: Connection, limits: EffectiveLimits | None, caller: Caller
    ) -> list[Budget]:
        if limits is None:
            return []
        now = self._database.now()
        unspent = _unspent_budgets(limits, caller)
        return [_read_spent(connection, budget, now) for budget in unspent]

    def _refusal(self, connection: Connection, budget: Budget, num_needed: int) -> TooFast:
        now = self._database.now()
        if budget.period == "day":
            return _daily_refusal(budget, num_needed, now)
        if num_needed > budget.limit:
            wait_s, remedy = MINUTE_S, _remedy(budget)
        else:
            num_missing = num_needed - budget.num_left
            wait_s = _seconds_until_free(connection, budget, num_missing, now)
            remedy = f"Try again in {math.ceil(wait_s)} seconds."
        return TooFast(
            f"{_shortage(budget, num_needed)} {remedy}",
            retry_after_s=wait_s,
            allowances=(as_allowance(budget, now),),
            is_shared=budget.scope == "address",
        )


def settle_ledger(connection: Connection, rows: Iterable[Mapping[str, object]]) -> None:
    """Replaces the reservations of finished turns by the tokens used, also for a turn that was
    deleted while it ran."""
    SETTLE.run_many(connection, rows)


def _daily_refusal(budget: Budget, num_needed: int, now: float) -> QuotaSpent:
    can_wait = num_needed <= budget.limit
    remedy = "There are new ones after midnight, UTC." if can_wait else _remedy(budget)
    return QuotaSpent(
        f"{_shortage(budget, num_needed)} {remedy}",
        retry_after_s=budget.resets_at - now,
        allowances=(as_allowance(budget, now),),
    )


def _shortage(budget: Budget, num_needed: int) -> str:
    return (
        f"This needs {num_needed:,} tokens. Of the {budget.limit:,} {OWNER_NAMES[budget.scope]} "
        f"may use in a {budget.period}, {budget.num_left:,} are left."
    )


def _remedy(budget: Budget) -> str:
    """Tells what to do when waiting does not help."""
    return "Make it shorter." if budget.limit else "Ask an administrator for some."


def as_allowance(budget: Budget, now: float) -> Allowance:
    return Allowance("tokens", budget.limit, budget.num_left, max(budget.resets_at - now, 0.0))


def _unspent_budgets(limits: EffectiveLimits, caller: Caller) -> Iterator[Budget]:
    candidates: tuple[tuple[BudgetScope, str | None, Period, int | None], ...] = (
        ("user", caller.user_id, "day", limits.user.tokens_per_day),
        ("key", caller.key_id, "day", limits.key.tokens_per_day),
        ("group", limits.group_id, "day", limits.group.tokens_per_day),
        ("user", caller.user_id, "minute", limits.user.tokens_per_minute),
        ("key", caller.key_id, "minute", limits.key.tokens_per_minute),
        ("address", caller.address, "minute", limits.address.tokens_per_minute),
    )
    for scope, target, period, limit in candidates:
        if limit is not None and target is not None:
            yield Budget(scope, target, period, limit)


def _read_spent(connection: Connection, budget: Budget, now: float) -> Budget:
    spent = select(func.coalesce(func.sum(NUM_TOKENS), 0), func.max(ledger.c.at))
    num_spent, newest_at = connection.execute(spent.where(*_is_counted(budget, now))).one()
    minute_end = now if newest_at is None else newest_at + MINUTE_S
    resets_at = _day_start(now) + DAY_S if budget.period == "day" else minute_end
    return structs.replace(budget, num_spent=num_spent, resets_at=resets_at)


def _is_counted(budget: Budget, now: float) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    is_today, is_recent = ledger.c.at >= _day_start(now), ledger.c.at > now - MINUTE_S
    is_in_period = is_today if budget.period == "day" else is_recent
    return OWNER_COLUMNS[budget.scope] == budget.target, is_in_period


def _day_start(now: float) -> float:
    """Midnight in UTC."""
    return now - now % DAY_S


def _seconds_until_free(
    connection: Connection, budget: Budget, num_missing: int, now: float
) -> float:
    """Returns the time until enough tokens are more than a minute old."""
    rows = connection.execute(
        select(ledger.c.at, NUM_TOKENS).where(*_is_counted(budget, now)).order_by(ledger.c.at)
    )
    for at, num_tokens in rows:
        num_missing -= num_tokens
        if num_missing <= 0:
            return max(at + MINUTE_S - now, 0.001)
    return MINUTE_S
