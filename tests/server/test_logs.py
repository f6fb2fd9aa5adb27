"""The server logs each request with its id, and nothing that people wrote."""

import io
import json
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

import pytest
from tests.server.pages import open_page
from tests.server.world import World, message, open_world

from hitsend.engine import Prompt, ScriptedEngine
from hitsend.engine.contract import GenerationStep
from hitsend.logs import JsonFormatter
from hitsend.messages import FREE, AnswerRules, Message, Sampling, Tool
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.settings import Settings

SEND = "/backend-api/f/conversation"
CANARY = "canary-77"


class Log:
    def __init__(self) -> None:
        self.written = io.StringIO()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]

    def of_route(self, route: str) -> dict[str, Any]:
        return next(line for line in self.lines if line.get("route") == route)


@pytest.fixture
def log() -> Iterator[Log]:
    """At the level that is the default."""
    log, ours = Log(), logging.getLogger("hitsend")
    handler = logging.StreamHandler(log.written)
    handler.setFormatter(JsonFormatter())
    ours.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    yield log
    logging.getLogger().removeHandler(handler)
    ours.setLevel(logging.NOTSET)


async def test_a_request_is_one_line_that_names_its_route(world: World, log: Log) -> None:
    ada = await world.someone("ada")
    answer = await ada.http.get(f"/backend-api/conversation/{CANARY}?q={CANARY}")
    line = log.of_route("/backend-api/conversation/{conversation_id}")
    assert (line["method"], line["status"]) == ("GET", 404)
    assert line["request_id"] == answer.headers["x-request-id"]
    assert 0 < line["ms"] < 60_000
    await (await world.browser()).get(f"/{CANARY}")
    assert log.lines[-1]["message"] == "GET of no route: 404"
    assert CANARY not in log.written.getvalue()


async def test_probes_are_not_logged_by_default(world: World, log: Log) -> None:
    browser = await world.browser()
    for path in ("/healthz", "/readyz"):
        assert (await browser.get(path)).status_code == 200
    assert log.lines == []


class Broken(ScriptedEngine):
    """Raises exceptions that quote what people wrote."""

    def __init__(self, *, encodes: bool) -> None:
        super().__init__()
        self._encodes = encodes

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        if not self._encodes:
            raise ValueError(CANARY)
        return await super().encode(model, messages, tools, rules)

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[GenerationStep, None]:
        raise ValueError(CANARY)
        yield


async def test_a_bug_before_the_answer_is_logged_with_its_request(
    settings: Settings, log: Log
) -> None:
    async with open_world(settings, Broken(encodes=False)) as world:
        ada = await world.someone("ada")
        failed = await ada.http.post(SEND, json=message(CANARY))
    assert failed.status_code == 500
    request_id = failed.headers["x-request-id"]
    assert failed.json()["request_id"] == request_id
    line = next(line for line in log.lines if line.get("request_id") == request_id)
    assert line["level"] == "error"
    assert "ValueError" in line["error"]
    assert CANARY not in log.written.getvalue()


async def test_a_bug_in_an_answer_is_logged_with_its_request_and_turn(
    settings: Settings, log: Log
) -> None:
    async with open_world(settings, Broken(encodes=True)) as world:
        ada = await world.someone("ada")
        stream = await ada.send(CANARY)
        (line,) = [line for line in log.lines if line["level"] == "error"]
        assert line["request_id"] == stream.headers["x-request-id"]
        assert line["turn_id"] == stream.turn_id
        async with open_page(ada) as page:
            reply = await page.request_reply("send", client_msg_id="m", body=message(CANARY))
            await page.read(await page.follow(reply["topic_id"]))
    over_socket = [line for line in log.lines if line["level"] == "error"][1]
    assert over_socket["turn_id"] == reply["turn_exchange_id"]
    assert over_socket["request_id"] not in ("", line["request_id"])
    assert CANARY not in log.written.getvalue()


async def test_the_line_of_a_send_names_its_turn_and_its_trace(world: World, log: Log) -> None:
    ada = await world.someone("ada")
    ada.http.headers["x-oai-turn-trace-id"] = "trace-7"
    stream = await ada.send(f"!script\n{CANARY}")
    await ada.http.get("/backend-api/me")
    line = log.of_route(SEND)
    assert (line["turn_id"], line["turn_trace_id"]) == (stream.turn_id, "trace-7")
    assert not {"turn_id", "turn_trace_id"} & log.of_route("/backend-api/me").keys()


async def test_no_credential_is_logged(world: World, log: Log) -> None:
    ada, browser = await world.someone("ada"), await world.browser()
    cookie = ada.http.cookies[COOKIE]
    csrf = ada.http.headers["x-csrf-token"]
    for credentials in (
        {"authorization": f"Bearer {ada.key}"},
        {"authorization": f"Bearer {ada.key}x"},
        {"cookie": f"{COOKIE}={cookie}", "x-csrf-token": "wrong"},
    ):
        for method, path in (("GET", "/v1/models"), ("POST", SEND), ("DELETE", "/healthz")):
            await browser.request(method, path, headers=credentials)
    await ada.http.post(SEND, json={"messages": CANARY})
    await browser.get(f"/backend-api/share/{CANARY}")
    await browser.get(f"/invite/{CANARY}")
    await browser.get("/backend-api/me", headers={"host": CANARY, "x-forwarded-for": CANARY})
    said = log.written.getvalue()
    assert len(log.lines) >= 13
    for secret in (ada.key, cookie, csrf, CANARY):
        assert secret not in said
