"""What can be asked, and how the engine is."""

import msgspec
from starlette.responses import Response

from hitsend.server.calls import Access, Call, answer, endpoint


@endpoint("GET", "/backend-api/models", Access.PERSON)
async def list_models(call: Call) -> Response:
    """The models that can be asked now, the default first."""
    models = await call.house.services.engine.models()
    default = next((model.name for model in models if model.is_default), None)
    return answer({"models": models, "default_model": default})


@endpoint("GET", "/backend-api/status", Access.PERSON)
async def status(call: Call) -> Response:
    """How the engine is, and what is being downloaded."""
    engine = call.house.services.engine
    models = await engine.models()
    default = next((model.name for model in models if model.is_default), None)
    return answer(msgspec.to_builtins(engine.status()) | {"model": default})
