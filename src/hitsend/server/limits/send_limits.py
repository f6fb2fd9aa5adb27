"""Everything that can refuse a new turn before it starts: proof of work, request limits, token
limits. The step `accept` reserves the turn's tokens; this module only reports what is left."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from hitsend.allowance import Allowance
from hitsend.errors import QuotaSpent, StorageSpent, TokenInvalid, TooFast
from hitsend.server.app import App
from hitsend.server.auth.identify import Identity
from hitsend.server.call import Call
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.server.limits.gate import GateClient
from hitsend.server.limits.request_limits import Key
from hitsend.store import Budget, Caller, as_allowance

PROOF_TOKEN = "hitsend-sentinel-token"
OPENAI_PROOF_TOKEN = "openai-sentinel-chat-requirements-token"
"""The name in ChatGPT's protocol."""
DEVICE = "oai-device-id"
MAX_DEVICE_CHARS = 64
NO_DEVICE = "-"
MB = 1_000_000


class ActiveLimits(NamedTuple):
    """The limits that apply to a caller. All are empty where no limit is set."""

    requests: Mapping[Key, int]
    """Requests per minute."""
    tokens: list[Budget]
    storage_mb: int | None = None


async def check_send_limits(call: Call) -> list[Allowance]:
    """Counts one request and returns what is left of the limits. Raises ProofNeeded and TooFast.
    The cheap check comes first."""
    call.app.gate.check(gate_client(call), read_proof_token(call.request.headers))
    limits = await load_limits(call)
    if limits.storage_mb is not None:
        await find_storage_left(call, limits.storage_mb)
    now = time.time()
    tokens = [as_allowance(budget, now) for budget in limits.tokens]
    return call.app.request_counter.count(limits.requests, tokens)


async def load_limits(call: Call) -> ActiveLimits:
    store, key_id = call.app.services.store, call.identity.key_id
    bounds = await store.limits.find(call.user_id, key_id)
    if bounds is None:
        return ActiveLimits({}, [])
    caller = Caller(call.user_id, key_id, client_address(call.request))
    limits = {
        ("user", call.user_id): bounds.user.requests_per_minute,
        ("key", key_id or ""): bounds.key.requests_per_minute,
        ("address", caller.address or ""): bounds.address.requests_per_minute,
    }
    requests = {key: limit for key, limit in limits.items() if limit is not None}
    tokens = await store.ledger.budgets(bounds, caller)
    return ActiveLimits(requests, tokens, bounds.user.storage_mb)


async def find_storage_left(call: Call, storage_mb: int) -> int:
    """Returns how many bytes the caller may still store. Raises StorageSpent when there are none.
    An answer that runs is never cut for it."""
    left = storage_mb * MB - await call.app.services.store.storage.used_by(call.user_id)
    if left <= 0:
        raise StorageSpent(
            f"Your storage of {storage_mb:,} MB is full. Delete conversations that you no longer "
            "need; two minutes later you can go on."
        )
    return left


@contextmanager
def record_refusals(app: App, identity: Identity) -> Iterator[None]:
    """Reports refusals to the gate, which raises the difficulty for users refused often.

    Three kinds are not reported: those of an API key, because a program causes them; those of an
    address, because others share it; and a spent daily quota, because it is not about speed."""
    try:
        yield
    except (TooFast, TokenInvalid) as error:
        is_shared = isinstance(error, TooFast) and error.is_shared
        is_session = identity.session is not None
        if is_session and not is_shared and not isinstance(error, QuotaSpent):
            app.gate.record_refusal(identity.user.id)
        raise


def read_proof_token(headers: Mapping[str, str]) -> str | None:
    return headers.get(PROOF_TOKEN) or headers.get(OPENAI_PROOF_TOKEN)


def gate_client(call: Call) -> GateClient:
    """The device is the random id that the page gave its browser, if it is well-formed. API keys
    have limits, but need no proof of work."""
    device = call.request.headers.get(DEVICE, "")
    is_visible = device.isascii() and device.isprintable() and " " not in device
    if not is_visible or not 0 < len(device) <= MAX_DEVICE_CHARS:
        device = NO_DEVICE
    return GateClient(call.user_id, device, is_exempt=call.identity.session is None)
