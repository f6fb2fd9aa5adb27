"""Metrics for Prometheus."""

from starlette.responses import Response

from hitsend.server.call import Access, Call, endpoint
from hitsend.server.metrics.gauges import read_gauges


@endpoint("GET", "/metrics", Access.METRICS, is_counted=False)
async def get_metrics(call: Call) -> Response:
    """Read counters, histograms and gauges as Prometheus does. They hold nothing of a person."""
    await read_gauges(call.app)
    accept = call.request.headers.get("accept", "")
    text, media_type = call.app.metrics.instruments.encode(accept)
    return Response(text, headers={"content-type": media_type})
