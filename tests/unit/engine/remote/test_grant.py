"""A remote server that ignores its grant, or reports counts that cannot be right."""

import asyncio
from itertools import count

import msgspec
import pytest
from tests.unit.engine.fake_server import STREAM_HEAD, Request, chunked, sse
from tests.unit.engine.remote.fake_chat_server import (
    CHAT,
    HELLO,
    ChatServer,
    answer_of,
    delta,
    engine_on,
    text_of,
)
from tests.unit.engine.remote.test_dialects import VllmServer, completion_chunk, llama_server

from hitsend.engine.contract import Finished, Generated, GenerationStep, Prefilled, Prompt
from hitsend.engine.remote.chat_api import MAX_CALL_CHARS
from hitsend.engine.remote.grant import MAX_SEARCHED_TOKENS, Grant
from hitsend.errors import EngineLost
from hitsend.messages import Sampling, Usage

HUGE = 2**62


def usage_chunk(num_input: int, num_output: int, num_cached: int = 0) -> object:
    details = {"cached_tokens": num_cached}
    counts = {"prompt_tokens": num_input, "completion_tokens": num_output}
    return {"choices": [], "usage": counts | {"prompt_tokens_details": details}}


def end_of(steps: list[GenerationStep]) -> tuple[str, Usage]:
    finished = steps[-1]
    assert isinstance(finished, Finished)
    return finished.reason, finished.usage


async def test_an_answer_is_cut_at_its_grant_and_the_connection_closed() -> None:
    fake, has_stopped = ChatServer(b""), asyncio.Event()

    async def go_on_forever(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != CHAT:
            return await fake(request, writer)
        writer.write(STREAM_HEAD)
        try:
            for number in count():
                chunk = msgspec.json.encode(delta(f" {number}"))
                writer.write(chunked(b"data: %s\n\n" % chunk))
                await writer.drain()
        finally:
            has_stopped.set()

    async with engine_on(go_on_forever) as (engine, _):
        steps = await answer_of(engine, Sampling(max_tokens=500))
        await has_stopped.wait()
        assert engine.status().num_busy_slots == 0
        prompt = await engine.encode("auto", HELLO)
        idle = await engine.generate_when_idle(prompt, Sampling(max_tokens=3))
    assert text_of(steps).split() == [str(number) for number in range(500)]
    assert sum(len(step.tokens) for step in steps if isinstance(step, Generated)) == 500
    reason, usage = end_of(steps)
    assert (reason, usage.num_output_tokens, usage.is_estimated) == ("length", 500, True)
    assert usage.num_input_tokens == prompt.num_tokens
    assert idle == " 0 1 2"


async def test_an_answer_of_exactly_its_grant_is_not_cut() -> None:
    server = ChatServer(sse(*[delta(" a")] * 5, delta(finish="stop"), usage_chunk(9, 5)))
    async with engine_on(server) as (engine, _):
        steps = await answer_of(engine, Sampling(max_tokens=5))
    reason, usage = end_of(steps)
    assert (reason, usage.num_output_tokens, usage.is_estimated) == ("stop", 5, False)


async def test_one_chunk_of_many_tokens_is_cut_and_counted() -> None:
    server = ChatServer(sse(delta("word " * 100_000), delta(finish="stop"), usage_chunk(9, 1)))
    async with engine_on(server) as (engine, _):
        cut = await answer_of(engine, Sampling(max_tokens=10))
        whole = await answer_of(engine, Sampling(max_tokens=100_000))
    assert 0 < len(text_of(cut)) < 500
    assert (end_of(cut)[0], end_of(cut)[1].num_output_tokens) == ("length", 10)
    assert len(text_of(whole)) == 500_000
    assert end_of(whole)[1].num_output_tokens > 10_000


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ((HUGE, HUGE, HUGE), (8192, 20, 8192)),
        ((10**30, 10**30, 10**30), (8192, 20, 8192)),
        ((-1_000_000, -1_000_000, -1_000_000), (None, 2, 0)),
        ((0, 0, 0), (None, 2, 0)),
        ((9, 1, 4), (9, 2, 4)),
        ((9, 12, 10), (9, 12, 9)),
    ],
)
async def test_reported_usage_is_checked_against_what_arrived(
    reported: tuple[int, int, int], expected: tuple[int | None, int, int]
) -> None:
    chunks = delta("Hel"), delta("lo"), delta(finish="stop"), usage_chunk(*reported)
    async with engine_on(ChatServer(sse(*chunks))) as (engine, _):
        _, usage = end_of(await answer_of(engine, Sampling(max_tokens=20)))
        prompt = await engine.encode("auto", HELLO)
    num_input, num_output, num_cached = expected
    assert usage.num_input_tokens == (prompt.num_tokens if num_input is None else num_input)
    assert (usage.num_output_tokens, usage.num_cached_tokens) == (num_output, num_cached)


async def test_an_exact_prompt_is_counted_by_us() -> None:
    fake = VllmServer(completion_chunk("Hi", 72, 105, finish="stop"), usage_chunk(HUGE, HUGE, HUGE))
    async with engine_on(fake) as (engine, _):
        _, usage = end_of(await answer_of(engine, Sampling(max_tokens=7)))
        prompt = await engine.encode("auto", HELLO)
        assert prompt.is_exact
    assert (usage.num_input_tokens, usage.num_output_tokens) == (prompt.num_tokens, 7)


async def test_llama_servers_counts_are_checked_too() -> None:
    async def boast(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != "/completion":
            return await llama_server(request, writer)
        progress = {"total": HUGE, "cache": -HUGE, "processed": HUGE, "time_ms": 1}
        ending = {"stop": True, "tokens_predicted": -HUGE, "tokens_evaluated": HUGE}
        token = {"content": "H", "tokens": [72], "tokens_predicted": 1}
        writer.write(sse({"prompt_progress": progress}, token, ending))
        return None

    async with engine_on(boast) as (engine, _):
        prompt = await engine.encode("auto", HELLO)
        steps = await answer_of(engine)
    prefilled = steps[0]
    assert isinstance(prefilled, Prefilled)
    assert (prefilled.num_cached_tokens, prefilled.num_evaluated_tokens) == (0, prompt.num_tokens)
    _, usage = end_of(steps)
    assert (usage.num_input_tokens, usage.num_output_tokens) == (prompt.num_tokens, 1)


def test_the_tokens_of_a_search_are_clamped() -> None:
    grant = Grant(Prompt("m", 10, 100, True, ()), Sampling(max_tokens=5))
    step = grant.check(Generated("", (), num_searched_tokens=HUGE))
    assert isinstance(step, Generated)
    assert step.num_searched_tokens == MAX_SEARCHED_TOKENS
    end = grant.check(Finished("stop", Usage(num_searched_tokens=-HUGE)))
    assert isinstance(end, Finished)
    assert end.usage.num_searched_tokens == 0


async def test_an_endless_tool_call_is_lost() -> None:
    """The pieces of a second call wait for the end of the first."""
    pieces = [{"index": i, "function": {"arguments": "{" + "x" * 65_536 * i}} for i in (0, 1)]
    piece = delta(tool_calls=pieces)
    server = ChatServer(sse(*[piece] * (MAX_CALL_CHARS // 65_536 + 1)))
    async with engine_on(server) as (engine, _):
        with pytest.raises(EngineLost, match="without an end"):
            await answer_of(engine)


@pytest.mark.parametrize("num_window", [HUGE, -5, 0])
async def test_a_window_that_cannot_be_right_is_ignored(num_window: int) -> None:
    async def boast(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == "/v1/models":
            models = {"data": [{"id": "m", "max_model_len": num_window}]}
            body = msgspec.json.encode(models)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    async with engine_on(boast) as (engine, _):
        assert (await engine.resolve("auto")).num_window_tokens == 8192


def test_thoughts_without_an_end_exceed_the_grant() -> None:
    grant = Grant(Prompt("m", 10, 100, True, ()), Sampling(max_tokens=5))
    grant.check(Generated("", (), reasoning="Hm. "))
    assert not grant.is_exceeded
    step = grant.check(Generated("", (), reasoning="Hm. " * 100_000))
    assert isinstance(step, Generated)
    assert step.reasoning == ""
    assert grant.is_exceeded
