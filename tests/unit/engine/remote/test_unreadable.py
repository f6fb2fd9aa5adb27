"""Chunks and responses that no JSON reader takes: clear, retryable errors."""

import asyncio

import msgspec
import pytest
from tests.unit.engine.fake_server import STREAM_HEAD, Request, chunked, serving, whole
from tests.unit.engine.remote.fake_chat_server import (
    CHAT,
    ChatServer,
    answer_of,
    delta,
    engine_on,
)
from tests.unit.engine.remote.test_dialects import VllmServer, llama_server

from hitsend.engine.http import HttpClient, parse_address
from hitsend.engine.remote.engine import RemoteEngine
from hitsend.engine.upstream_errors import read_problem, read_response
from hitsend.errors import EngineDown, EngineLost, Unavailable
from hitsend.settings import Settings

HALF = b"\xc3"
DEEP = b"[" * 100_000 + b"]" * 100_000


def stream_of(*values: bytes) -> bytes:
    events = [chunked(b"data: %s\n\n" % value) for value in values]
    return STREAM_HEAD + b"".join(events) + chunked(b"")


@pytest.mark.parametrize(
    "value",
    [
        b'{"choices": [{"delta": {"content": "Caf%s"}}]}' % HALF,
        b'{"choices": [{"delta": {}}], "usage": {"prompt_tokens": %s}}' % (b"9" * 6000),
        b'{"choices": [{"delta": {}}], "usage": {"prompt_tokens": 1e400}}',
        b'{"choices": [{"delta": {}, "more": %s}]}' % DEEP,
        DEEP,
    ],
)
async def test_an_unreadable_chunk_loses_the_answer(value: bytes) -> None:
    server = ChatServer(stream_of(msgspec.json.encode(delta("Hi")), value))
    async with engine_on(server) as (engine, _):
        with pytest.raises(EngineLost, match="unreadable") as raised:
            await answer_of(engine)
    assert isinstance(raised.value, Unavailable)


@pytest.mark.parametrize(
    "value",
    [
        b'{"choices": [{"text": "%s"}]}' % HALF,
        b'{"choices": [{"text": "a", "token_ids": [%d]}]}' % 10**30,
    ],
)
async def test_an_unreadable_chunk_of_vllm_loses_the_answer(value: bytes) -> None:
    vllm = VllmServer()

    async def fake(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == "/v1/completions":
            writer.write(stream_of(value))
        else:
            await vllm(request, writer)

    async with engine_on(fake) as (engine, _):
        with pytest.raises(EngineLost, match="unreadable"):
            await answer_of(engine)


async def test_an_unreadable_chunk_of_llama_server_loses_the_answer() -> None:
    async def fake(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == "/completion":
            writer.write(stream_of(b'{"content": "%s", "tokens": [1]}' % HALF))
        else:
            await llama_server(request, writer)

    async with engine_on(fake) as (engine, _):
        with pytest.raises(EngineLost, match="unreadable"):
            await answer_of(engine)


@pytest.mark.parametrize("body", [b'{"data": [{"id": "%s"}]}' % HALF, b'{"data": %s}' % DEEP])
async def test_an_unreadable_response_is_an_engine_that_is_down(body: bytes) -> None:
    async def fake(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(body))

    async with serving(fake) as server:
        http = HttpClient(parse_address(server.url))
        response = await http.request("GET", "/v1/models")
        with pytest.raises(EngineDown):
            read_response(response, dict[str, list[dict[str, str]]])
        assert read_problem(b'{"error": "%s"}' % HALF).message == ""
        engine = RemoteEngine(Settings(engine_url=server.url, engine_wait_s=0.3))
        await engine.start()
        with pytest.raises(EngineDown):
            await engine.resolve("auto")
        await engine.close()


async def test_a_retry_time_without_limit_is_shortened() -> None:
    server = ChatServer(whole(b"", "503 Unavailable", Retry_After="9" * 400))
    async with engine_on(server) as (engine, fake):
        with pytest.raises(EngineDown, match="busy") as raised:
            await answer_of(engine)
        assert fake.requests_to(CHAT)
    assert raised.value.retry_after_s == 3600
