"""What pages tell of themselves: how fast answers were, and which errors they had.

Bounded, slowed down and without text; off by a setting, and then nothing is even read.
"""

import logging
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import UnknownModel
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.latency import MAX_REPORTED, Beacon, PageError

log = logging.getLogger(__name__)

ACCEPTED = 202
MAX_BYTES = 4096
REPORTS_A_MINUTE = 60
"""Of all pages of a person, of either kind."""


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    errors: Annotated[tuple[PageError, ...], Meta(min_length=1, max_length=MAX_REPORTED)]


@endpoint("POST", "/backend-api/lat/r", Access.PERSON)
async def take_beacon(call: Call) -> Response:
    """Take in how fast a page found an answer: numbers alone."""
    if not _is_on(call):
        return _off()
    _check_rate(call)
    beacon = await call.body(Beacon, MAX_BYTES)
    models = await call.house.services.engine.models()
    if beacon.model not in (model.name for model in models):
        raise UnknownModel("There is no such model here.", param="model")
    call.house.latency.add(beacon)
    return answer({"status": "success"})


@endpoint("POST", "/backend-api/telemetry", Access.PERSON)
async def take_errors(call: Call) -> Response:
    """Take in which errors a page had, by name and place, without their text."""
    if not _is_on(call):
        return _off()
    _check_rate(call)
    report = await call.body(Report, MAX_BYTES)
    for error in report.errors:
        log.warning("a page had %s in %s:%d", error.name, error.where, error.line)
        call.house.latency.add_error(error)
    return answer({"status": "success"}, ACCEPTED)


@endpoint("GET", "/backend-api/latency", Access.ADMIN)
async def latency(call: Call) -> Response:
    """How fast answers were, for the server and for pages, and the errors pages had."""
    known = call.house.latency
    usages = await call.house.services.store.turns.usages()
    return answer({"models": known.models(usages), "errors": known.errors()})


def _is_on(call: Call) -> bool:
    return call.house.services.settings.telemetry


def _check_rate(call: Call) -> None:
    call.house.meter.take({("reports", call.user_id): REPORTS_A_MINUTE})


def _off() -> Response:
    return answer({"status": "off"}, ACCEPTED)
