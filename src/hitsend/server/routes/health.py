"""Whether it is alive, and whether it can answer."""

from starlette.responses import Response

from hitsend.server.calls import Access, Call, answer, endpoint


@endpoint("GET", "/healthz", Access.ANYONE)
async def healthz(call: Call) -> Response:
    """The process is alive."""
    return answer({"status": "ok"})


@endpoint("GET", "/readyz", Access.ANYONE)
async def readyz(call: Call) -> Response:
    """The engine and the store are ready; says which is not."""
    engine = call.house.services.engine.status().state
    store = "ready" if await call.house.store_readiness.is_ready() else "down"
    is_ready = engine == store == "ready"
    body = {"status": "ok" if is_ready else "unavailable", "engine": engine, "store": store}
    return answer(body, 200 if is_ready else 503, {} if is_ready else {"retry-after": "1"})
