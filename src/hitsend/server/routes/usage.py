"""What was used, in tokens and in what they cost: by day, by model, and by person."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

from starlette.responses import Response

from hitsend.allowance import DAY_S
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.costs import Prices, total, totals
from hitsend.store import UsageRow

T = TypeVar("T", bound=int | str)

MOST_DAYS = 366


@endpoint("GET", "/backend-api/usage", Access.PERSON)
async def my_usage(call: Call) -> Response:
    """What one used in the last `days`, by day and by model."""
    first_day, prices = _first_day(call), await _prices(call)
    rows = await call.house.services.store.usage.by_day(first_day, call.user_id)
    return answer(_shown(call, rows, first_day, prices))


@endpoint("GET", "/backend-api/usage/everyone", Access.ADMIN)
async def usage_of_everyone(call: Call) -> Response:
    """What everyone used in the last `days`, by day, model, person and group."""
    first_day, prices, store = _first_day(call), await _prices(call), call.house.services.store
    shown = _shown(call, await store.usage.by_day(first_day), first_day, prices)
    by_person = totals(await store.usage.by_person(first_day), _of, prices)
    by_group = totals(await store.usage.by_group(first_day), _of, prices)
    people = {person.id: person.name for person in await store.accounts.list_users()}
    groups = {group.id: group.name for group in await store.groups.list()}
    shown["people"] = [
        {"user_id": user_id, "name": people.get(user_id), **used}
        for user_id, used in by_person.items()
    ]
    shown["groups"] = [
        {"group_id": group_id, "name": groups.get(group_id), **used}
        for group_id, used in by_group.items()
    ]
    return answer(shown)


def _first_day(call: Call) -> int:
    """Counted from 1970, in UTC. Today is one of the days asked for."""
    days = call.number("days", 30, most=MOST_DAYS)
    return int(time.time()) // DAY_S - max(days, 1) + 1


async def _prices(call: Call) -> Prices:
    return {price.model: price for price in await call.house.services.store.prices.list()}


def _shown(
    call: Call, rows: Sequence[UsageRow[int]], first_day: int, prices: Prices
) -> dict[str, object]:
    """Every day has its line, so that a page can draw them as they are."""
    by_day, by_model = totals(rows, _of, prices), totals(rows, lambda row: row.model, prices)
    nothing, today = total((), prices), int(time.time()) // DAY_S
    days = range(first_day, today + 1)
    return {
        "currency": call.house.services.settings.currency,
        "days": [{"day": _date(day), **by_day.get(day, nothing)} for day in days],
        "models": [{"model": model, **used} for model, used in sorted(by_model.items())],
        "total": total(rows, prices),
    }


def _of(row: UsageRow[T]) -> T:
    return row.of


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY_S, UTC).date().isoformat()
