"""Telemetry of the page: latency of answers, and errors.

Reports are small, rate limited and without text. With the setting `telemetry` off, they are not
read at all.
"""

import logging
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import UnknownModel
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.latency_stats import (
    MAX_REPORTED,
    ErrorCount,
    ModelLatency,
    PageError,
    PageLatency,
)
from hitsend.wire.responses import TelemetryReply

log = logging.getLogger(__name__)

ACCEPTED = 202
MAX_BYTES = 4096
REPORTS_PER_MINUTE = 60
"""Per user, of both kinds together."""


class ErrorReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    errors: Annotated[tuple[PageError, ...], Meta(min_length=1, max_length=MAX_REPORTED)]


class LatencyReport(msgspec.Struct, frozen=True):
    models: tuple[ModelLatency, ...]
    errors: tuple[ErrorCount, ...]


@endpoint("POST", "/backend-api/lat/r", Access.USER)
async def report_latency(call: Call) -> Response:
    """Report the latency of an answer as the page measured it: numbers only."""
    if not call.app.services.settings.telemetry:
        return json_response(TelemetryReply("off"), ACCEPTED)
    _count_report(call)
    latency = await call.read_body(PageLatency, MAX_BYTES)
    models = await call.app.services.engine.models()
    if latency.model not in (model.name for model in models):
        raise UnknownModel("There is no such model here.", param="model")
    call.app.latency_stats.add(latency)
    return json_response(TelemetryReply())


@endpoint("POST", "/backend-api/telemetry", Access.USER)
async def report_errors(call: Call) -> Response:
    """Report errors of the page by class and place, without their messages."""
    if not call.app.services.settings.telemetry:
        return json_response(TelemetryReply("off"), ACCEPTED)
    _count_report(call)
    report = await call.read_body(ErrorReport, MAX_BYTES)
    for error in report.errors:
        log.warning("a page had %s in %s:%d", error.name, error.where, error.line)
        call.app.latency_stats.add_error(error)
    return json_response(TelemetryReply(), ACCEPTED)


@endpoint("GET", "/backend-api/latency", Access.ADMIN)
async def get_latency(call: Call) -> Response:
    """Get the latency of answers, as the server and as pages measured it, and page errors."""
    stats = call.app.latency_stats
    usages = await call.app.services.store.turns.usages()
    return json_response(LatencyReport(tuple(stats.models(usages)), tuple(stats.errors())))


def _count_report(call: Call) -> None:
    call.app.request_counter.count({("reports", call.user_id): REPORTS_PER_MINUTE})
