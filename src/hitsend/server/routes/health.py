"""Liveness and readiness probes."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from starlette.responses import Response

from hitsend.engine import EngineState
from hitsend.server.call import Access, Call, endpoint, json_response


class ReadinessReply(msgspec.Struct, frozen=True):
    status: Literal["ok", "unavailable", "draining"]
    engine: EngineState
    store: Literal["ready", "down"]
    reason: str | UnsetType = UNSET
    """Why the store is down: `disk_full`, `database_damaged` or `store_down`."""
    detail: str | UnsetType = UNSET
    """The same in a sentence."""


@endpoint("GET", "/healthz", Access.ANYONE, is_counted=False, is_probe=True)
async def healthz(call: Call) -> Response:
    """Answer 200 while the process is alive."""
    return json_response({"status": "ok"})


@endpoint("GET", "/readyz", Access.ANYONE, is_counted=False, is_probe=True)
async def readyz(call: Call) -> Response:
    """Answer 200 if engine and store are ready and new turns are accepted, otherwise 503."""
    engine = call.app.services.engine.status().state
    problem = await call.app.store_readiness.find_problem()
    is_open = call.app.runner.is_open
    is_ready = engine == "ready" and problem is None and is_open
    body = ReadinessReply(
        status="ok" if is_ready else "unavailable" if is_open else "draining",
        engine=engine,
        store="down" if problem else "ready",
        reason=problem.code if problem else UNSET,
        detail=problem.message if problem else UNSET,
    )
    return json_response(body, 200 if is_ready else 503, {} if is_ready else {"retry-after": "1"})
