"""Models: available ones, downloads, and the status of the engine."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec
from starlette.responses import Response

from hitsend.engine import EngineStatus, ModelFacts, Offer
from hitsend.errors import DatabaseDamaged, DiskFull, Unavailable
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.store.audit_events import ModelPulled, ModelRemoved

ACCEPTED = 202
STORE_FRESH_S = 5.0
"""Every page asks, so the store is checked less often than for `/readyz`."""

StoreState: TypeAlias = Literal["ready", "store_down", "disk_full", "database_damaged"]


class ListedModel(ModelFacts, frozen=True, kw_only=True):
    num_tokens_per_s: float | None
    """The speed of its last answers on this machine. None if there were none."""


class ModelList(msgspec.Struct, frozen=True):
    models: tuple[ListedModel, ...]
    default_model: str | None
    offers: tuple[Offer, ...]


class Status(EngineStatus, frozen=True, kw_only=True):
    model: str | None
    """The default model."""
    store: StoreState = "ready"
    """Whether messages and answers can be stored. Running answers wait until they can."""


@endpoint("GET", "/backend-api/models", Access.USER)
async def list_models(call: Call) -> Response:
    """List the available models, the default first, and those that can be downloaded."""
    services = call.app.services
    models = await services.engine.models()
    speeds = await services.store.turns.speeds()
    listed = tuple(
        ListedModel(**msgspec.structs.asdict(model), num_tokens_per_s=speeds.get(model.name))
        for model in models
    )
    return json_response(ModelList(listed, _default(models), tuple(await services.engine.offers())))


@endpoint("POST", "/backend-api/models/{name:path}/pull", Access.ADMIN)
async def pull_model(call: Call) -> Response:
    """Start the download of a model. `/backend-api/status` shows its progress."""
    name = call.path_param("name")
    await call.app.services.engine.fetch(name)
    await call.app.services.store.audit.record(ModelPulled(name), call.actor)
    return Response(status_code=ACCEPTED)


@endpoint("DELETE", "/backend-api/models/{name:path}", Access.ADMIN)
async def remove_model(call: Call) -> Response:
    """Delete a model's weights, or its partial download."""
    name = call.path_param("name")
    await call.app.services.engine.remove(name)
    await call.app.services.store.audit.record(ModelRemoved(name), call.actor)
    return Response(status_code=NO_CONTENT)


@endpoint("GET", "/backend-api/status", Access.USER)
async def get_status(call: Call) -> Response:
    """Get the state of the engine and the progress of downloads."""
    engine = call.app.services.engine
    default = _default(await engine.models())
    problem = await call.app.store_readiness.find_problem(STORE_FRESH_S)
    store = _store_state(problem)
    facts = msgspec.structs.asdict(engine.status())
    return json_response(Status(**facts, model=default, store=store))


def _store_state(problem: Unavailable | None) -> StoreState:
    match problem:
        case None:
            return "ready"
        case DiskFull():
            return "disk_full"
        case DatabaseDamaged():
            return "database_damaged"
        case _:
            return "store_down"


def _default(models: Sequence[ModelFacts]) -> str | None:
    return next((model.name for model in models if model.is_default), None)
