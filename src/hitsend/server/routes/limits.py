"""Limits per minute and per day: what is left of one's own, and setting them."""

import time
from collections.abc import Sequence

import msgspec
from starlette.responses import Response

from hitsend.allowance import Allowance
from hitsend.errors import NotFound, Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.limits.send_limits import MB, load_limits
from hitsend.store import Budget, KeyItem, Limit, LimitItem, LimitScope
from hitsend.wire.responses import (
    RemainingDayLimit,
    RemainingGroupLimit,
    RemainingLimit,
    RemainingLimits,
    ServerRules,
    StorageUse,
)

WITHOUT_TARGET: tuple[LimitScope, ...] = ("everyone", "address")
WITH_TARGET: tuple[LimitScope, ...] = ("user", "group", "key")


class LimitList(msgspec.Struct, frozen=True):
    items: tuple[LimitItem, ...]
    keys: tuple[KeyItem, ...]


@endpoint("GET", "/backend-api/limits/mine", Access.USER)
async def get_own_limits(call: Call) -> Response:
    """Get what is left of the caller's limits."""
    requests, tokens, _ = await load_limits(call)
    own = [budget for budget in tokens if budget.scope != "group"]
    minute = [budget for budget in own if budget.period == "minute"]
    day = [budget for budget in own if budget.period == "day"]
    group = await call.app.services.store.groups.find_by_user(call.user_id)
    shared = [budget for budget in tokens if budget.scope == "group"]
    return json_response(
        RemainingLimits(
            requests=_requests(call.app.request_counter.remaining(requests)),
            tokens_minute=_tokens(minute),
            tokens_day=_day(day),
            group=RemainingGroupLimit(group.name, _day(shared)) if group else None,
        )
    )


@endpoint("GET", "/backend-api/storage", Access.USER)
async def get_own_storage(call: Call) -> Response:
    """Get how much the caller stores, and how much they may."""
    used = await call.app.services.store.storage.used_by(call.user_id)
    most = (await load_limits(call)).storage_mb
    return json_response(StorageUse(used, None if most is None else most * MB))


@endpoint("GET", "/backend-api/rules", Access.USER)
async def get_rules(call: Call) -> Response:
    """Get the instructions and the limits that the settings define for everyone."""
    settings = call.app.services.settings
    return json_response(msgspec.convert(settings, ServerRules, from_attributes=True))


@endpoint("GET", "/backend-api/limits", Access.ADMIN)
async def list_limits(call: Call) -> Response:
    """List every limit that is set, and the API keys."""
    limits = call.app.services.store.limits
    return json_response(LimitList(tuple(await limits.list()), tuple(await limits.keys())))


@endpoint("PUT", "/backend-api/limits/{scope}", Access.ADMIN)
async def set_limit_for_all(call: Call) -> Response:
    """Set the default limit for all users, or for all addresses."""
    await _set(call, _scope(call, WITHOUT_TARGET), "")
    return Response(status_code=NO_CONTENT)


@endpoint("PUT", "/backend-api/limits/{scope}/{target}", Access.ADMIN)
async def set_limit(call: Call) -> Response:
    """Set the limit of a user, a group or an API key."""
    await _set(call, _scope(call, WITH_TARGET), call.path_param("target"))
    return Response(status_code=NO_CONTENT)


@endpoint("DELETE", "/backend-api/limits/{scope}", Access.ADMIN)
async def remove_limit_for_all(call: Call) -> Response:
    """Remove the default limit for all users, or for all addresses."""
    await call.app.services.store.limits.remove(_scope(call, WITHOUT_TARGET), "", call.actor)
    return Response(status_code=NO_CONTENT)


@endpoint("DELETE", "/backend-api/limits/{scope}/{target}", Access.ADMIN)
async def remove_limit(call: Call) -> Response:
    """Remove the limit of a user, a group or an API key."""
    scope, target = _scope(call, WITH_TARGET), call.path_param("target")
    await call.app.services.store.limits.remove(scope, target, call.actor)
    return Response(status_code=NO_CONTENT)


def _scope(call: Call, allowed: Sequence[LimitScope]) -> LimitScope:
    named = call.path_param("scope")
    for scope in allowed:
        if scope == named:
            return scope
    raise NotFound(f"A limit like this is for one of: {', '.join(allowed)}.", param="scope")


async def _set(call: Call, scope: LimitScope, target: str) -> None:
    limit = await call.read_body(Limit)
    if scope == "address" and limit.tokens_per_day is not None:
        raise Refused("Addresses have no day. Limit their minute.", param="tokens_per_day")
    if scope in ("address", "key") and limit.storage_mb is not None:
        raise Refused("Only people have storage. Limit theirs.", param="storage_mb")
    await call.app.services.store.limits.set(scope, target, limit, call.actor)


def _requests(allowances: Sequence[Allowance]) -> RemainingLimit:
    if not allowances:
        return RemainingLimit()
    least = min(allowances, key=lambda one: one.remaining)
    return _build_remaining(least.limit, least.remaining, least.reset_s)


def _tokens(budgets: Sequence[Budget]) -> RemainingLimit:
    if not budgets:
        return RemainingLimit()
    least = min(budgets, key=lambda budget: budget.num_left)
    return _build_remaining(least.limit, least.num_left, least.resets_at - time.time())


def _day(budgets: Sequence[Budget]) -> RemainingDayLimit:
    tokens, reset_at = _tokens(budgets), budgets[0].resets_at if budgets else None
    return RemainingDayLimit(tokens.limit, tokens.remaining, tokens.reset_ms, reset_at)


def _build_remaining(limit: int, remaining: int, reset_s: float) -> RemainingLimit:
    return RemainingLimit(limit, remaining, max(round(reset_s * 1000), 0))
