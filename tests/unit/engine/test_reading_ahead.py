"""A prompt is read ahead in small steps that begin where the model's own memory ends."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from tests.unit.engine.fake_server import FakeServer, Request, serving, sse

from hitsend.engine import Delayed, Finished, Generated, Generation, Prompt, PromptWasRead
from hitsend.engine.http import Http, parse_address
from hitsend.engine.reading_ahead import LEAST_STEP_TOKENS, MOST_STEP_TOKENS, ReadingAhead
from hitsend.engine.spare_time import SpareTime
from hitsend.messages import Token, Usage

NUM_CACHED = 7


async def llama(request: Request, writer: asyncio.StreamWriter) -> None:
    timings = {"cache_n": NUM_CACHED, "prompt_ms": 1.0, "predicted_ms": 0.0}
    writer.write(sse({"stop": True, "stop_type": "limit", "timings": timings}))


@asynccontextmanager
async def reading_ahead() -> AsyncGenerator[tuple[ReadingAhead, FakeServer], None]:
    async with serving(llama) as server, asyncio.timeout(20):
        yield ReadingAhead(Http(parse_address(server.url))), server


def prompt(*ids: int) -> Prompt:
    return Prompt("tiny", len(ids), 4096, True, (), ids)


def asked(server: FakeServer) -> list[int]:
    """How far each request reached."""
    prompts = [request.json["prompt"] for request in server.asked("/completion")]
    return [len(msgspec.convert(ids, tuple[int, ...])) for ids in prompts]


async def answering(*ids: int) -> AsyncGenerator[Generation, None]:
    yield PromptWasRead(0, 300, 0.0, 1.0)
    yield Generated("words", tuple(Token(one, "", None, 0.0) for one in ids))
    yield Finished("stop", Usage())


async def test_each_step_reaches_a_little_further_up_to_the_end() -> None:
    whole = prompt(*range(500))
    async with reading_ahead() as (reading, server):
        read = await reading.read(whole, SpareTime())
        reached = asked(server)
    assert reached[0] == LEAST_STEP_TOKENS
    assert reached[-1] == 500
    assert all(0 < b - a <= MOST_STEP_TOKENS for a, b in zip(reached, reached[1:], strict=False))
    assert (read.num_cached_tokens, read.num_evaluated_tokens) == (NUM_CACHED, 500 - NUM_CACHED)
    assert read.is_whole


async def test_nothing_more_is_asked_once_a_person_is_there() -> None:
    spare_time = SpareTime()
    async with reading_ahead() as (reading, server):
        with spare_time.person():
            read = await reading.read(prompt(*range(500)), spare_time)
        assert asked(server) == [LEAST_STEP_TOKENS]
    assert not read.is_whole


async def test_what_was_read_or_said_before_is_asked_for_at_once() -> None:
    before = prompt(*range(300))
    async with reading_ahead() as (reading, server):
        async for _ in reading.remembered(before, answering(*range(300, 400))):
            continue
        await reading.read(prompt(*range(410)), SpareTime())
        assert asked(server) == [410]


async def test_a_prompt_that_was_not_read_to_its_end_is_not_taken_for_read() -> None:
    async def left_off() -> AsyncGenerator[Generation, None]:
        yield Delayed("loading")

    whole = prompt(*range(300))
    async with reading_ahead() as (reading, server):
        async for _ in reading.remembered(whole, left_off()):
            continue
        await reading.read(whole, SpareTime())
        assert asked(server)[0] == LEAST_STEP_TOKENS


@pytest.mark.parametrize("num_common", [0, 1, 10, 150, 298, 299, 300])
async def test_only_what_two_prompts_have_in_common_counts(num_common: int) -> None:
    async with reading_ahead() as (reading, server):
        async for _ in reading.remembered(prompt(*range(300)), answering()):
            continue
        await reading.read(prompt(*range(num_common), *[9999] * 200), SpareTime())
        assert asked(server)[0] == num_common + LEAST_STEP_TOKENS


async def test_the_beginning_of_what_was_read_is_not_read_again_and_cuts_nothing_off() -> None:
    async with reading_ahead() as (reading, server):
        await reading.read(prompt(*range(100)), SpareTime())
        num_asked = len(asked(server))
        read = await reading.read(prompt(*range(40)), SpareTime())
        assert len(asked(server)) == num_asked
    assert (read.num_cached_tokens, read.is_whole) == (40, True)
