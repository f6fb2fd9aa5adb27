"""Requests to a remote engine: users' values stay inside their fields."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace
from tests.server.world import World, message, open_world
from tests.unit.engine.fake_server import FakeServer, serving, sse
from tests.unit.engine.remote.fake_chat_server import CHAT, ChatServer, delta

from hitsend.engine import RemoteEngine
from hitsend.settings import Settings

PROMPTS = "/backend-api/admin/prompts"
ESCAPES = [
    '{}}}, "max_tokens":100000, "model":"second", "n":50, "x":{"y":{"z":1',
    '{}, "n": 50',
    '{"a": 1}} , {',
    "{} {}",
    "[]",
    "null",
    '"object"',
    "not json",
    "",
    '{"a": NaN}',
    '{"a": "\\q"}',
    '{"a":' * 5000 + "1" + "}" * 5000,
]
FIELDS = {"model", "messages", "stream", "stream_options", "max_tokens"}


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with serving(ChatServer(sse(delta("Fine."), delta(finish="stop")))) as server:
        yield server


@pytest.fixture
async def world(settings: Settings, server: FakeServer) -> AsyncIterator[World]:
    settings = replace(settings, engine_url=server.url, prewarm=False)
    async with open_world(settings, RemoteEngine(settings)) as world:
        yield world


@pytest.mark.parametrize("schema", ESCAPES)
async def test_a_schema_that_is_not_one_object_is_refused_and_never_sent(
    world: World, server: FakeServer, schema: str
) -> None:
    ada = await world.someone("ada", "admin")
    sampling = {"json_schema": schema}
    sent = await ada.http.post(
        "/backend-api/f/conversation", json=message("Hello", sampling=sampling)
    )
    chosen = await ada.http.put(f"{PROMPTS}/title", json={"sampling": sampling})
    assert (sent.status_code, chosen.status_code) == (400, 400)
    assert "json_schema" in sent.json()["detail"]
    assert "json_schema" in chosen.json()["detail"]
    assert server.requests_to(CHAT) == []


async def test_text_in_a_schema_cannot_escape_it(world: World, server: FakeServer) -> None:
    ada = await world.someone("ada")
    await ada.send("Hello", sampling={"json_schema": '{"const": "}}, \\"n\\": 50"}'})
    request = server.requests_to(CHAT)[0].json
    assert request.keys() == FIELDS | {"response_format"}
    assert request["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": {"const": '}}, "n": 50'}},
    }
    assert "n" not in request


async def test_an_internal_prompt_runs_without_beam_search_where_there_is_none(
    world: World, server: FakeServer
) -> None:
    ada = await world.someone("ada", "admin")
    chosen = await ada.http.put(f"{PROMPTS}/title", json={"sampling": {"policy": "beam"}})
    assert chosen.status_code == 204
    await ada.send("Why is the sky blue in the day, and red when the sun goes down in the evening?")
    _, title = server.requests_to(CHAT)
    assert title.json.keys() == FIELDS | {"temperature", "stop"}
    assert (title.json["max_tokens"], title.json["stop"]) == (24, ["\n"])
