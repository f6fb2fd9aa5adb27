"""Prices of tokens, for administrators: only for statistics, nobody is charged."""

from typing import Annotated, TypeAlias

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.store import Price

MAX_MODEL_CHARS = 200

Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class NewPrice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Per million tokens."""

    input: Amount
    cached: Amount
    output: Amount


class PriceList(msgspec.Struct, frozen=True):
    currency: str
    items: tuple[Price, ...]


@endpoint("GET", "/backend-api/prices", Access.ADMIN)
async def list_prices(call: Call) -> Response:
    """List the price of a million tokens of each model."""
    services = call.app.services
    items = await services.store.prices.list()
    return json_response(PriceList(services.settings.currency, tuple(items)))


@endpoint("PUT", "/backend-api/prices/{model:path}", Access.ADMIN)
async def set_price(call: Call) -> Response:
    """Set the price of a million tokens of a model."""
    model, new = call.path_param("model"), await call.read_body(NewPrice)
    if not 0 < len(model) <= MAX_MODEL_CHARS:
        raise Refused(f"The name of a model has 1 to {MAX_MODEL_CHARS} characters.", param="model")
    price = Price(model, new.input, new.cached, new.output)
    await call.app.services.store.prices.set(price, call.actor)
    return Response(status_code=NO_CONTENT)


@endpoint("DELETE", "/backend-api/prices/{model:path}", Access.ADMIN)
async def remove_price(call: Call) -> Response:
    """Remove the price of a model."""
    await call.app.services.store.prices.remove(call.path_param("model"), call.actor)
    return Response(status_code=NO_CONTENT)
