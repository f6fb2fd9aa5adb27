"""What a caller may still do: requests as the meter counts them, tokens as the ledger does."""

from collections.abc import Mapping
from typing import NamedTuple

from hitsend.server.addresses import address_of
from hitsend.server.calls import Call
from hitsend.server.meter import Who
from hitsend.store import Budget, Caller


class InForce(NamedTuple):
    """The limits on a caller. Nothing where nothing is limited."""

    requests: Mapping[Who, int]
    """So many a minute for each."""
    tokens: list[Budget]


async def limits_of(call: Call) -> InForce:
    store, key_id = call.house.services.store, call.person.key_id
    bounds = await store.limits.bounds(call.user_id, key_id)
    if bounds is None:
        return InForce({}, [])
    caller = Caller(call.user_id, key_id, address_of(call.request))
    limits = {
        ("user", call.user_id): bounds.user.requests_per_minute,
        ("key", key_id or ""): bounds.key.requests_per_minute,
        ("address", caller.address or ""): bounds.address.requests_per_minute,
    }
    requests = {who: limit for who, limit in limits.items() if limit is not None}
    return InForce(requests, await store.ledger.budgets(bounds, caller))
