"""Token usage and its cost, by day, model, user and group."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

from msgspec.structs import asdict
from starlette.responses import Response

from hitsend.allowance import DAY_S
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.usage_costs import Prices, total, totals
from hitsend.store import UsageRow
from hitsend.wire.responses import (
    DayUsage,
    GroupUsage,
    ModelUsage,
    PersonUsage,
    Spending,
    SpendingOfEveryone,
)

T = TypeVar("T", bound=int | str)

MAX_DAYS = 366


@endpoint("GET", "/backend-api/usage", Access.READ)
async def get_own_usage(call: Call) -> Response:
    """Get the caller's usage of the last `days`, by day and model."""
    first_day, prices = _first_day(call), await _prices(call)
    rows = await call.app.services.store.usage.by_day(first_day, call.user_id)
    return json_response(_report(call, rows, first_day, prices))


@endpoint("GET", "/backend-api/usage/everyone", Access.ADMIN)
async def get_all_usage(call: Call) -> Response:
    """Get everyone's usage of the last `days`, by day, model, user and group."""
    first_day, prices, store = _first_day(call), await _prices(call), call.app.services.store
    report = _report(call, await store.usage.by_day(first_day), first_day, prices)
    by_user = totals(await store.usage.by_person(first_day), _key, prices)
    by_group = totals(await store.usage.by_group(first_day), _key, prices)
    users = {user.id: user.name for user in await store.accounts.list_users()}
    groups = {group.id: group.name for group in await store.groups.list()}
    return json_response(
        SpendingOfEveryone(
            **asdict(report),
            people=tuple(
                PersonUsage(user_id=user_id, name=users.get(user_id), **asdict(used))
                for user_id, used in by_user.items()
            ),
            groups=tuple(
                GroupUsage(group_id=group_id, name=groups.get(group_id), **asdict(used))
                for group_id, used in by_group.items()
            ),
        )
    )


def _first_day(call: Call) -> int:
    """Days since 1970 in UTC. Today is one of the `days`."""
    days = call.query_int("days", 30, maximum=MAX_DAYS)
    return int(time.time()) // DAY_S - max(days, 1) + 1


async def _prices(call: Call) -> Prices:
    return {price.model: price for price in await call.app.services.store.prices.list()}


def _report(call: Call, rows: Sequence[UsageRow[int]], first_day: int, prices: Prices) -> Spending:
    """Includes days without usage, so that a page can draw every day."""
    by_day, by_model = totals(rows, _key, prices), totals(rows, lambda row: row.model, prices)
    nothing, today = total((), prices), int(time.time()) // DAY_S
    days = range(first_day, today + 1)
    return Spending(
        currency=call.app.services.settings.currency,
        days=tuple(DayUsage(day=_date(day), **asdict(by_day.get(day, nothing))) for day in days),
        models=tuple(
            ModelUsage(model=model, **asdict(used)) for model, used in sorted(by_model.items())
        ),
        total=total(rows, prices),
    )


def _key(row: UsageRow[T]) -> T:
    return row.of


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY_S, UTC).date().isoformat()
