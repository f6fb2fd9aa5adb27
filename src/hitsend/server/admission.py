"""May this call start a turn now? The gate and the limits, in the order in which they are cheap."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from hitsend.allowance import Allowance
from hitsend.errors import PassInvalid, QuotaSpent, TooFast
from hitsend.server.calls import Call, House
from hitsend.server.limiting import limits_of
from hitsend.server.people import Person
from hitsend.server.proofs import Holder
from hitsend.server.rates import telling
from hitsend.store import allowance

TOKEN = "hitsend-sentinel-token"
DEVICE = "oai-device-id"
MAX_DEVICE_CHARS = 64
NO_DEVICE = "-"


async def admit_call(call: Call) -> list[Allowance]:
    """What is left of the limits. Raises ProofNeeded and TooFast."""
    check_gate(call)
    return await check_limits(call)


def check_gate(call: Call) -> None:
    call.house.gate.check(holder_of(call), token_of(call))


async def check_limits(call: Call) -> list[Allowance]:
    """Tokens are taken with the turn itself: what is told of them here is what it finds."""
    requests, budgets = await limits_of(call)
    now = time.time()
    tokens = [allowance(budget, now) for budget in budgets]
    with telling(tokens):
        return call.house.meter.take(requests) + tokens


@contextmanager
def blaming(house: House, person: Person) -> Iterator[None]:
    """The gate asks more work of a browser whose sends, resumes and proofs are refused again and
    again. A program's refusals are no fault of whoever sits before the page, nor are those of
    an address that others use too; and a day that is spent is no haste."""
    try:
        yield
    except (TooFast, PassInvalid) as error:
        if person.session is not None and not _is_excused(error):
            house.gate.blame(person.user.id)
        raise


def _is_excused(error: TooFast | PassInvalid) -> bool:
    return isinstance(error, QuotaSpent) or (isinstance(error, TooFast) and error.is_shared)


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
