"""A prompt is prefilled in small steps that begin where the KV cache ends."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from tests.unit.engine.fake_server import FakeServer, Request, serving, sse

from hitsend.engine import Delayed, Finished, Generated, GenerationStep, Prefilled, Prompt
from hitsend.engine.http import HttpClient, parse_address
from hitsend.engine.idle_queue import IdleQueue
from hitsend.engine.llama.prefill import MAX_STEP_TOKENS, MIN_STEP_TOKENS, Prefiller
from hitsend.messages import Token, Usage

NUM_CACHED = 7


async def llama(request: Request, writer: asyncio.StreamWriter) -> None:
    timings = {"cache_n": NUM_CACHED, "prompt_ms": 1.0, "predicted_ms": 0.0}
    writer.write(sse({"stop": True, "stop_type": "limit", "timings": timings}))


@asynccontextmanager
async def connected_prefiller() -> AsyncGenerator[tuple[Prefiller, FakeServer], None]:
    async with serving(llama) as server, asyncio.timeout(20):
        yield Prefiller(HttpClient(parse_address(server.url))), server


def prompt(*ids: int) -> Prompt:
    return Prompt("tiny", len(ids), 4096, True, (), ids)


def num_requested(server: FakeServer) -> list[int]:
    """The number of tokens in each request."""
    prompts = [request.json["prompt"] for request in server.requests_to("/completion")]
    return [len(msgspec.convert(ids, tuple[int, ...])) for ids in prompts]


async def answering(*ids: int) -> AsyncGenerator[GenerationStep, None]:
    yield Prefilled(0, 300, 0.0, 1.0)
    yield Generated("words", tuple(Token(one, "", None, 0.0) for one in ids))
    yield Finished("stop", Usage())


async def test_each_step_is_a_little_longer_up_to_the_end() -> None:
    whole = prompt(*range(500))
    async with connected_prefiller() as (prefiller, server):
        read = await prefiller.prefill(whole, IdleQueue())
        reached = num_requested(server)
    assert reached[0] == MIN_STEP_TOKENS
    assert reached[-1] == 500
    assert all(0 < b - a <= MAX_STEP_TOKENS for a, b in zip(reached, reached[1:], strict=False))
    assert (read.num_cached_tokens, read.num_evaluated_tokens) == (NUM_CACHED, 500 - NUM_CACHED)
    assert read.is_complete


async def test_a_preempted_prefill_stops_after_its_step() -> None:
    idle_queue = IdleQueue()
    async with connected_prefiller() as (prefiller, server):
        with idle_queue.foreground():
            read = await prefiller.prefill(prompt(*range(500)), idle_queue)
        assert num_requested(server) == [MIN_STEP_TOKENS]
    assert not read.is_complete


async def test_cached_tokens_are_part_of_the_first_step() -> None:
    before = prompt(*range(300))
    async with connected_prefiller() as (prefiller, server):
        async for _ in prefiller.track(before, answering(*range(300, 400))):
            continue
        await prefiller.prefill(prompt(*range(410)), IdleQueue())
        assert num_requested(server) == [410]


async def test_a_prompt_whose_prefill_was_cancelled_does_not_count_as_cached() -> None:
    async def left_off() -> AsyncGenerator[GenerationStep, None]:
        yield Delayed("loading")

    whole = prompt(*range(300))
    async with connected_prefiller() as (prefiller, server):
        async for _ in prefiller.track(whole, left_off()):
            continue
        await prefiller.prefill(whole, IdleQueue())
        assert num_requested(server)[0] == MIN_STEP_TOKENS


@pytest.mark.parametrize("num_common", [0, 1, 10, 150, 298, 299, 300])
async def test_only_the_common_prefix_counts_as_cached(num_common: int) -> None:
    async with connected_prefiller() as (prefiller, server):
        async for _ in prefiller.track(prompt(*range(300)), answering()):
            continue
        await prefiller.prefill(prompt(*range(num_common), *[9999] * 200), IdleQueue())
        assert num_requested(server)[0] == num_common + MIN_STEP_TOKENS


async def test_a_prefix_of_a_cached_prompt_is_not_requested() -> None:
    async with connected_prefiller() as (prefiller, server):
        await prefiller.prefill(prompt(*range(100)), IdleQueue())
        num_asked = len(num_requested(server))
        read = await prefiller.prefill(prompt(*range(40)), IdleQueue())
        assert len(num_requested(server)) == num_asked
    assert (read.num_cached_tokens, read.is_complete) == (40, True)
