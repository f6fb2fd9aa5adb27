"""A remote engine that misbehaves: what people see, and what they are charged."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from msgspec.structs import replace
from sqlalchemy import update
from tests.server.world import Someone, World, open_world
from tests.unit.engine.fake_server import Handler, serving, sse, whole
from tests.unit.engine.remote.fake_chat_server import ChatServer, delta
from tests.unit.engine.remote.test_grant import usage_chunk

from hitsend.engine import RemoteEngine
from hitsend.settings import Settings
from hitsend.store import Limit
from hitsend.store.schema import ledger


@asynccontextmanager
async def world_on(settings: Settings, handler: Handler) -> AsyncGenerator[World, None]:
    async with serving(handler) as server:
        settings = replace(settings, engine_url=server.url, prewarm=False, model_titles=False)
        async with open_world(settings, RemoteEngine(settings)) as world:
            yield world


async def output_of(person: Someone) -> int:
    response = await person.http.get("/backend-api/usage")
    assert response.status_code == 200, response.text
    return int(response.json()["total"]["num_output_tokens"])


async def test_a_quota_holds_against_a_server_that_ignores_it(settings: Settings) -> None:
    words = [delta(f" {number}") for number in range(11_000)]
    server = ChatServer(sse(*words, delta(finish="stop"), usage_chunk(10, 11_000)))
    async with world_on(settings, server) as world:
        ada = await world.someone("ada")
        await world.app.services.store.limits.set("user", ada.user_id, Limit(tokens_per_day=500))
        stream = await ada.send("Count.")
        assert len(stream.text.split()) < 500
        mine = (await ada.http.get("/backend-api/limits/mine")).json()["tokens_day"]
        assert await output_of(ada) == len(stream.text.split())
        assert mine["remaining"] == 0


@pytest.mark.parametrize("num_reported", [2**62, 10**30, -1_000_000])
async def test_usage_that_cannot_be_right_is_corrected(
    settings: Settings, num_reported: int
) -> None:
    chunks = delta("Hi"), delta(" you"), delta(finish="stop")
    server = ChatServer(sse(*chunks, usage_chunk(num_reported, num_reported, num_reported)))
    async with world_on(settings, server) as world:
        ada = await world.someone("ada")
        for _ in range(3):
            stream = await ada.send("Hello")
            assert stream.text == "Hi you"
        assert 3 * 2 <= await output_of(ada) <= 3 * settings.max_answer_tokens


async def test_usage_can_be_read_after_an_earlier_version_stored_any_count(world: World) -> None:
    ada = await world.someone("ada")
    for _ in range(3):
        await ada.send("!script tokens=5")
    database = world.app.services.store.usage._database
    huge = update(ledger).values(num_output_tokens=2**62)
    await database.write(lambda connection: connection.execute(huge).close())
    assert await output_of(ada) == 3 * 2**31
    negative = update(ledger).values(num_output_tokens=-1_000_000)
    await database.write(lambda connection: connection.execute(negative).close())
    assert await output_of(ada) == 0


async def test_a_servers_error_text_is_not_shown(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    words = "backend postgres://admin:hunter2@10.0.0.5 is gone, password=hunter2"
    body = msgspec.json.encode({"error": {"message": words}})
    async with world_on(settings, ChatServer(whole(body, "500 Error"))) as world:
        ada = await world.someone("ada")
        with caplog.at_level(logging.DEBUG):
            stream = await ada.send("Hello")
        turn = await ada.http.get(f"/backend-api/turn/{stream.turn_id}")
    assert b"hunter2" not in stream.raw
    assert b"backend" not in stream.raw
    assert b"answered 500" in stream.raw
    assert "hunter2" not in turn.text
    assert "hunter2" not in caplog.text
    assert "is gone" in caplog.text


async def test_an_unreadable_chunk_is_a_failure_that_may_be_retried(settings: Settings) -> None:
    broken = sse(delta("Hi"), delta("?")).replace(b'"?"', b'"\xc3"')
    async with world_on(settings, ChatServer(broken)) as world, asyncio.timeout(20):
        ada = await world.someone("ada")
        stream = await ada.send("Hello")
        log = (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    failure = log[-1]["event"]
    assert (failure["type"], failure["code"]) == ("TurnFailed", "worker_lost")
    assert "unreadable" in failure["message"]
    assert failure["is_retryable"] is True


def problem(status: str, message: str, code: str) -> bytes:
    return whole(msgspec.json.encode({"error": {"message": message, "code": code}}), status)


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize(
    ("answer", "status", "code", "param"),
    [
        (problem("400 Bad Request", "secret words", "context_length_exceeded"),
         400, "context_length_exceeded", "messages"),
        (problem("404 Not Found", "secret words", "model_not_found"),
         404, "model_not_found", "model"),
        (problem("429 Too Many Requests", "secret words", "slow_down"), 503, "engine_down", None),
        (problem("500 Error", "secret words", "oops"), 503, "engine_down", None),
        (sse({"error": {"message": "secret words"}}), 503, "worker_lost", None),
        (sse({"choices": [{"delta": {"content": 5}}]}), 503, "worker_lost", None),
        (b"", 503, "engine_down", None),
    ],
)  # fmt: skip
async def test_on_v1_a_failure_before_the_first_token_is_an_http_error(
    settings: Settings, answer: bytes, status: int, code: str, param: str | None, is_streamed: bool
) -> None:
    async with world_on(settings, ChatServer(answer)) as world, asyncio.timeout(20):
        ada = await world.someone("ada")
        browser = await world.browser()
        refused = await browser.post(
            "/v1/chat/completions",
            json={
                "model": "auto",
                "messages": [{"role": "user", "content": "Hello"}],
                "stream": is_streamed,
            },
            headers={"authorization": f"Bearer {ada.key}"},
        )
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["param"]) == (status, code, param)
    assert "secret" not in refused.text
    assert ("retry-after" in refused.headers) == (status == 503)
    if code == "context_length_exceeded":
        assert error["message"].startswith("This model's maximum context length is")


async def test_models_with_a_slash_in_their_name_can_be_asked_and_looked_up(
    settings: Settings,
) -> None:
    server = ChatServer(sse(delta("Hi"), delta(finish="stop")))
    server.models = ["first", "meta/llama-9"]
    async with world_on(settings, server) as world:
        ada = await world.someone("ada")
        browser = await world.browser()
        browser.headers["authorization"] = f"Bearer {ada.key}"
        found = await browser.get("/v1/models/meta/llama-9")
        body = {"model": "meta/llama-9", "messages": [{"role": "user", "content": "Hello"}]}
        answer = await browser.post("/v1/chat/completions", json=body)
    assert found.json()["id"] == "meta/llama-9"
    assert (answer.json()["model"], answer.status_code) == ("meta/llama-9", 200)
