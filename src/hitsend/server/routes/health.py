"""Whether it is alive, and whether it can answer."""

from starlette.responses import Response

from hitsend.server.calls import Access, Call, answer, endpoint


@endpoint("GET", "/healthz", Access.ANYONE)
async def healthz(call: Call) -> Response:
    """The process is alive."""
    return answer({"status": "ok"})


@endpoint("GET", "/readyz", Access.ANYONE)
async def readyz(call: Call) -> Response:
    """The engine and the store are ready, and new answers are begun; says what is not so."""
    engine = call.house.services.engine.status().state
    store = "ready" if await call.house.store_readiness.is_ready() else "down"
    is_open = call.house.runner.is_open
    is_ready = engine == store == "ready" and is_open
    status = "ok" if is_ready else "unavailable" if is_open else "draining"
    body = {"status": status, "engine": engine, "store": store}
    return answer(body, 200 if is_ready else 503, {} if is_ready else {"retry-after": "1"})
