"""Liveness and readiness probes."""

from starlette.responses import Response

from hitsend.server.call import Access, Call, endpoint, json_response


@endpoint("GET", "/healthz", Access.ANYONE, is_counted=False, is_probe=True)
async def healthz(call: Call) -> Response:
    """Answer 200 while the process is alive."""
    return json_response({"status": "ok"})


@endpoint("GET", "/readyz", Access.ANYONE, is_counted=False, is_probe=True)
async def readyz(call: Call) -> Response:
    """Answer 200 if engine and store are ready and new turns are accepted, otherwise 503."""
    engine = call.app.services.engine.status().state
    store = "ready" if await call.app.store_readiness.is_ready() else "down"
    is_open = call.app.runner.is_open
    is_ready = engine == store == "ready" and is_open
    status = "ok" if is_ready else "unavailable" if is_open else "draining"
    body = {"status": status, "engine": engine, "store": store}
    return json_response(body, 200 if is_ready else 503, {} if is_ready else {"retry-after": "1"})
