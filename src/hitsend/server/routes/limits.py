"""What people may use in a minute and in a day: what is left of it, and how it is set."""

import time
from collections.abc import Sequence

from starlette.responses import Response

from hitsend.allowance import Allowance
from hitsend.errors import NotFound, Refused
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.server.limiting import limits_of
from hitsend.store import Budget, Limit, LimitScope

WITHOUT_TARGET: tuple[LimitScope, ...] = ("everyone", "address")
WITH_TARGET: tuple[LimitScope, ...] = ("user", "group", "key")

UNLIMITED: dict[str, object] = {"limit": None, "remaining": None, "reset_ms": None}


@endpoint("GET", "/backend-api/limits/mine", Access.PERSON)
async def my_limits(call: Call) -> Response:
    """What is left of one's own limits."""
    requests, tokens = await limits_of(call)
    own = [budget for budget in tokens if budget.scope != "group"]
    minute = [budget for budget in own if budget.span == "minute"]
    day = [budget for budget in own if budget.span == "day"]
    group = await call.house.services.store.groups.of(call.user_id)
    shared = [budget for budget in tokens if budget.scope == "group"]
    return answer(
        {
            "requests": _requests(call.house.meter.look(requests)),
            "tokens_minute": _tokens(minute),
            "tokens_day": _day(day),
            "group": group and {"name": group.name, "tokens_day": _day(shared)},
        }
    )


@endpoint("GET", "/backend-api/limits", Access.ADMIN)
async def list_limits(call: Call) -> Response:
    """Every limit that is set, and the keys one can be set for."""
    limits = call.house.services.store.limits
    return answer({"items": await limits.list(), "keys": await limits.keys()})


@endpoint("PUT", "/backend-api/limits/{scope}", Access.ADMIN)
async def set_limit_for_all(call: Call) -> Response:
    """Set what everyone, or every address, may use unless something else is set for them."""
    await _set(call, _scope(call, WITHOUT_TARGET), "")
    return Response(status_code=NOTHING)


@endpoint("PUT", "/backend-api/limits/{scope}/{target}", Access.ADMIN)
async def set_limit(call: Call) -> Response:
    """Set what a person, a group or a key may use."""
    await _set(call, _scope(call, WITH_TARGET), call.path("target"))
    return Response(status_code=NOTHING)


@endpoint("DELETE", "/backend-api/limits/{scope}", Access.ADMIN)
async def remove_limit_for_all(call: Call) -> Response:
    """Take back what was set for everyone, or for every address."""
    await call.house.services.store.limits.remove(_scope(call, WITHOUT_TARGET), "")
    return Response(status_code=NOTHING)


@endpoint("DELETE", "/backend-api/limits/{scope}/{target}", Access.ADMIN)
async def remove_limit(call: Call) -> Response:
    """Take back what was set for a person, a group or a key."""
    scope, target = _scope(call, WITH_TARGET), call.path("target")
    await call.house.services.store.limits.remove(scope, target)
    return Response(status_code=NOTHING)


def _scope(call: Call, allowed: Sequence[LimitScope]) -> LimitScope:
    named = call.path("scope")
    for scope in allowed:
        if scope == named:
            return scope
    raise NotFound(f"A limit like this is for one of: {', '.join(allowed)}.", param="scope")


async def _set(call: Call, scope: LimitScope, target: str) -> None:
    limit = await call.body(Limit)
    if scope == "address" and limit.tokens_per_day is not None:
        raise Refused("Addresses have no day. Limit their minute.", param="tokens_per_day")
    await call.house.services.store.limits.set(scope, target, limit)


def _requests(allowances: Sequence[Allowance]) -> dict[str, object]:
    if not allowances:
        return UNLIMITED
    least = min(allowances, key=lambda one: one.remaining)
    return _left(least.limit, least.remaining, least.reset_s)


def _tokens(budgets: Sequence[Budget]) -> dict[str, object]:
    if not budgets:
        return UNLIMITED
    least = min(budgets, key=lambda budget: budget.num_left)
    return _left(least.limit, least.num_left, least.resets_at - time.time())


def _day(budgets: Sequence[Budget]) -> dict[str, object]:
    return _tokens(budgets) | {"reset_at": budgets[0].resets_at if budgets else None}


def _left(limit: int, remaining: int, reset_s: float) -> dict[str, object]:
    return {"limit": limit, "remaining": remaining, "reset_ms": max(round(reset_s * 1000), 0)}
