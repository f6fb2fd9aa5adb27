"""May this call start a turn now? The gate and the limits, in the order in which they are cheap."""

import time

from hitsend.server.calls import Call
from hitsend.server.limiting import limits_of
from hitsend.server.proofs import Holder
from hitsend.server.rates import rate_headers
from hitsend.store import allowance

TOKEN = "hitsend-sentinel-token"
DEVICE = "oai-device-id"
MAX_DEVICE_CHARS = 64
NO_DEVICE = "-"


async def admit_call(call: Call) -> dict[str, str]:
    """What the answer says of the limits, as headers. Raises ProofNeeded and TooFast."""
    check_gate(call)
    return await check_limits(call)


def check_gate(call: Call) -> None:
    call.house.gate.check(holder_of(call), token_of(call))


async def check_limits(call: Call) -> dict[str, str]:
    """Tokens are taken with the turn itself: what is told of them here is what it finds."""
    requests, tokens = await limits_of(call)
    taken, now = call.house.meter.take(requests), time.time()
    return rate_headers([*taken, *(allowance(budget, now) for budget in tokens)])


def holder_of(call: Call) -> Holder:
    """Programs with an API key are counted and limited, but never made to work."""
    return Holder(call.user_id, _device(call), is_exempt=call.person.session is None)


def token_of(call: Call) -> str | None:
    return call.request.headers.get(TOKEN)


def _device(call: Call) -> str:
    """Which browser it is, as the page says: an id it made up, or nothing of use."""
    given = call.request.headers.get(DEVICE, "")
    is_visible = given.isascii() and given.isprintable() and " " not in given
    return given if is_visible and 0 < len(given) <= MAX_DEVICE_CHARS else NO_DEVICE
