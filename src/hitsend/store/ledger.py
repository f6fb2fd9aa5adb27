"""What every turn takes, in tokens. Before it runs, its prompt is put down and the most its answer
may take is set aside; when it has ended, what it took takes the place of both (see `closings`).

Both happen in the transaction that begins or ends the turn, so however many come at once, never
more is used than may be. That holds as far as prompts are counted: where an engine only estimates
them, a turn may take more than it was given, by as much as the estimate was short.

Where a turn came from is put down only while addresses are limited, and is forgotten with its
minute.
"""

import math
import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from msgspec import structs
from sqlalchemy import ColumnElement, exists, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.allowance import DAY_S, MINUTE_S, Allowance
from hitsend.errors import QuotaSpent, TooFast
from hitsend.store.database import Database
from hitsend.store.limits import Limits
from hitsend.store.rows import NewTurn
from hitsend.store.schema import TAKEN, ledger, turns, users
from hitsend.store.spending import Bounds, Budget, BudgetScope, Caller, Span

LEAST_ANSWER_TOKENS = 16
"""An answer that would be cut before that is not begun."""

OWNER: dict[BudgetScope, ColumnElement[Any]] = {
    "user": ledger.c.user_id,
    "key": ledger.c.key_id,
    "group": ledger.c.group_id,
    "address": ledger.c.address,
}
WHO: dict[BudgetScope, str] = {
    "user": "you",
    "key": "you",
    "group": "your group",
    "address": "your address",
}

NUM_TAKEN = reduce(operator.add, TAKEN)


class Ledger:
    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    async def budgets(self, bounds: Bounds, caller: Caller) -> list[Budget]:
        """What is left of everything that is limited for them, days first."""
        async with self._database.read() as connection:
            return await self._budgets(connection, bounds, caller)

    async def reserve(self, connection: AsyncConnection, new: NewTurn) -> int:
        """How many tokens the answer may have: those asked for, or what is left. Where it is one of
        several that are looked into, as many are set aside for each."""
        least = min(LEAST_ANSWER_TOKENS, new.num_answer_tokens)
        num_least = new.num_prompt_tokens + least * new.num_beams
        bounds = await self._limits.bounds_by(connection, new.user_id, new.key_id)
        caller = Caller(new.user_id, new.key_id, new.address)
        budgets = await self._budgets(connection, bounds, caller)
        for budget in budgets:
            if budget.num_left < num_least:
                raise await self._refusal(connection, budget, num_least)
        left = ((one.num_left - new.num_prompt_tokens) // new.num_beams for one in budgets)
        num_granted = min([new.num_answer_tokens, *left])
        await connection.execute(insert(ledger).values(self._row(new, budgets, num_granted)))
        return num_granted

    async def release_left(self) -> None:
        """What a crash left set aside for a turn that was deleted while it ran: no end of it will
        ever be stored."""
        runs = exists().where(turns.c.id == ledger.c.turn_id, turns.c.state == "running")
        left = update(ledger).where(ledger.c.num_reserved_tokens > 0, ~runs)
        async with self._database.write() as connection:
            await connection.execute(left.values(num_reserved_tokens=0))

    async def forget_addresses(self) -> None:
        """Those whose minute is over. Looks first: most of the time there are none."""
        is_old = ledger.c.address.is_not(None), ledger.c.at <= self._database.now() - MINUTE_S
        async with self._database.read() as connection:
            if await connection.scalar(select(ledger.c.at).where(*is_old).limit(1)) is None:
                return
        async with self._database.write() as connection:
            await connection.execute(update(ledger).where(*is_old).values(address=None))

    def _row(self, new: NewTurn, budgets: Sequence[Budget], num_granted: int) -> dict[str, object]:
        address = next((one.target for one in budgets if one.scope == "address"), None)
        group_id = select(users.c.group_id).where(users.c.id == new.user_id).scalar_subquery()
        return {
            "turn_id": new.turn_id,
            "user_id": new.user_id,
            "group_id": group_id,
            "key_id": new.key_id,
            "surface": "api" if new.conversation_id is None else "chat",
            "model": new.model,
            "at": self._database.now(),
            "num_reserved_tokens": num_granted * new.num_beams,
            "num_input_tokens": new.num_prompt_tokens,
            "num_cached_tokens": 0,
            "num_output_tokens": 0,
            "address": address,
        }

    async def _budgets(
        self, connection: AsyncConnection, bounds: Bounds | None, caller: Caller
    ) -> list[Budget]:
        if bounds is None:
            return []
        now = self._database.now()
        return [await _spent(connection, one, now) for one in _limited(bounds, caller)]

    async def _refusal(
        self, connection: AsyncConnection, budget: Budget, num_needed: int
    ) -> TooFast:
        now = self._database.now()
        if budget.span == "day":
            return _spent_today(budget, num_needed, now)
        if num_needed > budget.limit:
            wait_s, remedy = MINUTE_S, _instead(budget)
        else:
            num_missing = num_needed - budget.num_left
            wait_s = await _until_room(connection, budget, num_missing, now)
            remedy = f"Try again in {math.ceil(wait_s)} seconds."
        return TooFast(
            f"{_shortage(budget, num_needed)} {remedy}",
            retry_after_s=wait_s,
            allowances=(allowance(budget, now),),
            is_shared=budget.scope == "address",
        )


def _spent_today(budget: Budget, num_needed: int, now: float) -> QuotaSpent:
    can_wait = num_needed <= budget.limit
    remedy = "There are new ones after midnight, UTC." if can_wait else _instead(budget)
    return QuotaSpent(
        f"{_shortage(budget, num_needed)} {remedy}",
        retry_after_s=budget.resets_at - now,
        allowances=(allowance(budget, now),),
    )


def _shortage(budget: Budget, num_needed: int) -> str:
    return (
        f"This needs {num_needed:,} tokens. Of the {budget.limit:,} {WHO[budget.scope]} may use "
        f"in a {budget.span}, {budget.num_left:,} are left."
    )


def _instead(budget: Budget) -> str:
    """What to do where waiting is of no use."""
    return "Make it shorter." if budget.limit else "Ask an administrator for some."


def allowance(budget: Budget, now: float) -> Allowance:
    return Allowance("tokens", budget.limit, budget.num_left, max(budget.resets_at - now, 0.0))


def _limited(bounds: Bounds, caller: Caller) -> Iterator[Budget]:
    """All that is limited, with nothing spent yet."""
    all_there_are: tuple[tuple[BudgetScope, str | None, Span, int | None], ...] = (
        ("user", caller.user_id, "day", bounds.user.tokens_per_day),
        ("key", caller.key_id, "day", bounds.key.tokens_per_day),
        ("group", bounds.group_id, "day", bounds.group.tokens_per_day),
        ("user", caller.user_id, "minute", bounds.user.tokens_per_minute),
        ("key", caller.key_id, "minute", bounds.key.tokens_per_minute),
        ("address", caller.address, "minute", bounds.address.tokens_per_minute),
    )
    for scope, target, span, limit in all_there_are:
        if limit is not None and target is not None:
            yield Budget(scope, target, span, limit)


async def _spent(connection: AsyncConnection, budget: Budget, now: float) -> Budget:
    taken = select(func.coalesce(func.sum(NUM_TAKEN), 0), func.max(ledger.c.at))
    num_spent, newest_at = (await connection.execute(taken.where(*_in(budget, now)))).one()
    by_then = now if newest_at is None else newest_at + MINUTE_S
    resets_at = _day(now) + DAY_S if budget.span == "day" else by_then
    return structs.replace(budget, num_spent=num_spent, resets_at=resets_at)


def _in(budget: Budget, now: float) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    since = ledger.c.at >= _day(now) if budget.span == "day" else ledger.c.at > now - MINUTE_S
    return OWNER[budget.scope] == budget.target, since


def _day(now: float) -> float:
    """When it began, in UTC."""
    return now - now % DAY_S


async def _until_room(
    connection: AsyncConnection, budget: Budget, num_missing: int, now: float
) -> float:
    """Until so many tokens are more than a minute old."""
    rows = await connection.execute(
        select(ledger.c.at, NUM_TAKEN).where(*_in(budget, now)).order_by(ledger.c.at)
    )
    for at, num_taken in rows:
        num_missing -= num_taken
        if num_missing <= 0:
            return max(at + MINUTE_S - now, 0.001)
    return MINUTE_S
