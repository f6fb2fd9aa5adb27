"""What can be asked, what can be fetched, and how the engine is."""

from collections.abc import Sequence

import msgspec
from starlette.responses import Response

from hitsend.engine import ModelFacts
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint

ACCEPTED = 202


class ListedModel(ModelFacts, frozen=True, kw_only=True):
    num_tokens_per_s: float | None
    """How fast its last answers were, on this machine. None while nobody knows."""


@endpoint("GET", "/backend-api/models", Access.PERSON)
async def list_models(call: Call) -> Response:
    """The models that can be asked now, the default first, and those that can be fetched."""
    services = call.house.services
    models = await services.engine.models()
    speeds = await services.store.turns.speeds()
    listed = [
        ListedModel(**msgspec.structs.asdict(model), num_tokens_per_s=speeds.get(model.name))
        for model in models
    ]
    return answer(
        {
            "models": listed,
            "default_model": _default(models),
            "offers": await services.engine.offers(),
        }
    )


@endpoint("POST", "/backend-api/models/{name:path}/pull", Access.ADMIN)
async def pull_model(call: Call) -> Response:
    """Begin to fetch a model of the catalogue; the status tells how it gets on."""
    await call.house.services.engine.fetch(call.path("name"))
    return Response(status_code=ACCEPTED)


@endpoint("DELETE", "/backend-api/models/{name:path}", Access.ADMIN)
async def remove_model(call: Call) -> Response:
    """Delete a model's weights, or what has arrived of them."""
    await call.house.services.engine.remove(call.path("name"))
    return Response(status_code=NOTHING)


@endpoint("GET", "/backend-api/status", Access.PERSON)
async def status(call: Call) -> Response:
    """How the engine is, and what is being downloaded."""
    engine = call.house.services.engine
    default = _default(await engine.models())
    return answer(msgspec.to_builtins(engine.status()) | {"model": default})


def _default(models: Sequence[ModelFacts]) -> str | None:
    return next((model.name for model in models if model.is_default), None)
