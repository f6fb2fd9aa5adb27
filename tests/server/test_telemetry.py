"""Telemetry of pages: numbers and names, rate limited, and no text."""

import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import msgspec
import pytest
from tests.server.world import Someone, World

from hitsend.engine import ScriptedEngine
from hitsend.messages import Usage
from hitsend.server.app import open_app
from hitsend.server.latency_stats import (
    MAX_ANSWERS,
    MAX_ERRORS,
    ErrorCount,
    LatencyStats,
    PageError,
    PageLatency,
    Percentiles,
)
from hitsend.server.routes.telemetry import REPORTS_PER_MINUTE
from hitsend.server.serve import listen
from hitsend.settings import Settings

BEACON = "/backend-api/lat/r"
ERRORS = "/backend-api/telemetry"
ERROR = {"name": "TypeError", "where": "turn.js", "line": 7, "build": "1.0", "count": 2}


async def model_of(someone: Someone) -> str:
    return str((await someone.http.get("/backend-api/models")).json()["default_model"])


async def latency(admin: Someone) -> dict[str, Any]:
    response: dict[str, Any] = (await admin.http.get("/backend-api/latency")).json()
    return response


async def post_raw(someone: Someone, path: str, body: str) -> httpx2.Response:
    headers = {"content-type": "application/json"}
    return await someone.http.post(path, content=body, headers=headers)


async def test_latency_of_pages_is_reported_beside_the_servers(world: World) -> None:
    ada = await world.someone("ada", "admin")
    model = await model_of(ada)
    await ada.send("!script\none two three four")
    beacon = {
        "server_request_id": "0b5c9a0e-6f4e-4a55-8a3c-2f6f0a3f7c11",
        "model": model,
        "preflight_time_ms": 0,
        "count_tokens": 4,
        "ts_first_token_ms": 120.5,
        "ts_max_token_time_ms": 31,
        "ts_mean": 20,
        "ts_median": 19.5,
        "ts_min": 11,
        "ts_p95": 30,
        "ts_p99": 31,
        "ts_total_request_ms": 190,
    }
    taken = await ada.http.post(BEACON, json=beacon)
    assert (taken.status_code, taken.json()) == (200, {"status": "success"})
    (figures,) = (await latency(ada))["models"]
    assert figures["model"] == model
    assert figures["browsers"]["first_token_ms"] == {"p50": 120.5, "p95": 120.5, "count": 1}
    assert figures["browsers"]["token_ms"] == {"p50": 20.0, "p95": 20.0, "count": 1}
    assert figures["server"]["first_token_ms"]["count"] == 1
    assert figures["server"]["first_token_ms"]["p50"] > 0


async def test_without_answers_there_are_no_latencies(world: World) -> None:
    ada = await world.someone("ada", "admin")
    assert await latency(ada) == {"models": [], "errors": []}


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-1", "1e999", "1e300", '"12"', "[]", "true"]
)
@pytest.mark.parametrize("field", ["ts_first_token_ms", "ts_mean", "count_tokens"])
async def test_invalid_measurements_are_refused(world: World, field: str, number: str) -> None:
    ada = await world.someone("ada", "admin")
    model = await model_of(ada)
    refused = await post_raw(ada, BEACON, f'{{"model": "{model}", "{field}": {number}}}')
    assert refused.status_code == 400
    assert (await latency(ada))["models"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"note": "my secret"},
        {"server_request_id": "my secret"},
        {"server_request_id": "x" * 65},
        {"ts_mean": "my secret"},
        {"model": ""},
    ],
)
async def test_a_latency_report_cannot_contain_text(world: World, change: dict[str, Any]) -> None:
    ada = await world.someone("ada", "admin")
    beacon = {"model": await model_of(ada), "ts_mean": 1.0}
    assert (await ada.http.post(BEACON, json=beacon | change)).status_code == 400
    assert (await latency(ada))["models"] == []


async def test_an_unknown_model_is_refused(world: World) -> None:
    ada = await world.someone("ada", "admin")
    refused = await ada.http.post(BEACON, json={"model": "my secret", "ts_mean": 1.0})
    assert refused.json()["error"]["code"] == "model_not_found"
    assert "my secret" not in refused.text
    assert (await latency(ada))["models"] == []


async def test_page_errors_are_counted_by_class_and_place(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ada = await world.someone("ada", "admin")
    other = {"name": "text_differs", "where": "src/turn/proof.ts"}
    with caplog.at_level(logging.WARNING, "hitsend.server.routes.telemetry"):
        for errors in ([ERROR], [ERROR, other]):
            taken = await ada.http.post(ERRORS, json={"errors": errors})
            assert (taken.status_code, taken.json()) == (202, {"status": "success"})
    counts = [
        (each["name"], each["where"], each["count"]) for each in (await latency(ada))["errors"]
    ]
    assert counts == [("text_differs", "src/turn/proof.ts", 1), ("TypeError", "turn.js", 4)]
    assert caplog.messages[0] == "a page had TypeError in turn.js:7"
    assert len(caplog.messages) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"name": "my secret"},
        {"name": "secret\n"},
        {"name": ""},
        {"name": "x" * 49},
        {"name": "geheimnisvoll-ä"},
        {"where": "turn.js at my secret"},
        {"where": "https://x/?q=secret"},
        {"where": "x" * 97},
        {"build": "my secret"},
        {"line": -1},
        {"line": 1.5},
        {"count": 0},
        {"count": 10**9},
        {"message": "my secret"},
        {"stack": "my secret"},
    ],
)
async def test_an_error_report_cannot_contain_text(
    world: World, caplog: pytest.LogCaptureFixture, change: dict[str, Any]
) -> None:
    ada = await world.someone("ada", "admin")
    assert (await ada.http.post(ERRORS, json={"errors": [ERROR | change]})).status_code == 400
    assert (await latency(ada))["errors"] == []
    assert "secret" not in caplog.text


async def test_an_error_report_has_a_maximum_size(world: World) -> None:
    ada = await world.someone("ada", "admin")
    assert (await ada.http.post(ERRORS, json={"errors": [ERROR] * 10})).status_code == 202
    assert (await ada.http.post(ERRORS, json={"errors": [ERROR] * 11})).status_code == 400
    assert (await ada.http.post(ERRORS, json={"errors": []})).status_code == 400
    for path in (BEACON, ERRORS):
        assert (await post_raw(ada, path, " " * 4097)).status_code == 413


async def test_reports_are_limited_per_user(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    for number in range(REPORTS_PER_MINUTE):
        path = (BEACON, ERRORS)[number % 2]
        assert (await post_raw(eve, path, "{}")).status_code == 400
    for path in (BEACON, ERRORS):
        slowed = await eve.http.post(path, json={"errors": [ERROR]})
        assert slowed.status_code == 429
        assert int(slowed.headers["retry-after"]) > 0
    assert (await ada.http.post(ERRORS, json={"errors": [ERROR]})).status_code == 202


@pytest.fixture
async def silent(settings: Settings) -> AsyncGenerator[World]:
    off = msgspec.structs.replace(settings, telemetry=False)
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(off, ScriptedEngine()))
        url = await stack.enter_async_context(listen(app))
        yield World(app, url, await stack.enter_async_context(AsyncExitStack()))


async def test_with_telemetry_off_nothing_is_stored_and_pages_know(silent: World) -> None:
    ada = await silent.someone("ada", "admin")
    model = await model_of(ada)
    for path, body in ((BEACON, {"model": model, "ts_mean": 1}), (ERRORS, {"errors": [ERROR]})):
        response = await ada.http.post(path, json=body)
        assert (response.status_code, response.json()) == (202, {"status": "off"})
    assert await latency(ada) == {"models": [], "errors": []}


def test_only_the_newest_answers_of_a_model_count() -> None:
    known = LatencyStats()
    for ms in range(3000):
        known.add(PageLatency(model="tiny", ts_first_token_ms=float(ms)))
    (figures,) = known.models([])
    assert figures.browsers.first_token_ms == Percentiles(2499.0, 2949.0, MAX_ANSWERS)
    assert figures.browsers.token_ms == Percentiles(None, None, 0)


def test_answers_without_timing_do_not_count() -> None:
    usages = [
        ("tiny", Usage(num_output_tokens=10, decode_ms=200.0, first_word_ms=50.0)),
        ("tiny", Usage(num_output_tokens=0, decode_ms=0.0)),
    ]
    (figures,) = LatencyStats().models(usages)
    assert figures.server.first_token_ms == Percentiles(50.0, 50.0, 1)
    assert figures.server.token_ms == Percentiles(20.0, 20.0, 1)


def test_only_the_newest_errors_are_kept() -> None:
    known = LatencyStats(now=lambda: 5.0)
    for number in range(MAX_ERRORS + 50):
        known.add_error(PageError(name="TypeError", where=f"turn{number}.js"))
        known.add_error(PageError(name="Always", where="here"))
    errors = known.errors()
    assert len(errors) == MAX_ERRORS
    assert errors[0] == ErrorCount("Always", "here", MAX_ERRORS + 50, 5.0)
