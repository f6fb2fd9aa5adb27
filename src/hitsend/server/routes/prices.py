"""What tokens cost, for an administrator who wants to know. Nobody is charged."""

from typing import Annotated, TypeAlias

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.store import Price

MOST_MODEL_CHARS = 200

Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class NewPrice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of a million tokens."""

    input: Amount
    cached: Amount
    output: Amount


@endpoint("GET", "/backend-api/prices", Access.ADMIN)
async def list_prices(call: Call) -> Response:
    """What a million tokens of each model cost."""
    services = call.house.services
    items = await services.store.prices.list()
    return answer({"currency": services.settings.currency, "items": items})


@endpoint("PUT", "/backend-api/prices/{model:path}", Access.ADMIN)
async def set_price(call: Call) -> Response:
    """Say what a million tokens of a model cost."""
    model, new = call.path("model"), await call.body(NewPrice)
    if not 0 < len(model) <= MOST_MODEL_CHARS:
        raise Refused(f"The name of a model has 1 to {MOST_MODEL_CHARS} characters.", param="model")
    await call.house.services.store.prices.set(Price(model, new.input, new.cached, new.output))
    return Response(status_code=NOTHING)


@endpoint("DELETE", "/backend-api/prices/{model:path}", Access.ADMIN)
async def remove_price(call: Call) -> Response:
    """Say no longer what a model costs."""
    await call.house.services.store.prices.remove(call.path("model"))
    return Response(status_code=NOTHING)
