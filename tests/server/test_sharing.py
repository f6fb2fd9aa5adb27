"""The room is shared: whoever asks for all of it leaves the others theirs."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import pytest
from bench.load import Exchange, http_request, start_exchange
from msgspec import structs
from tests.server.world import Someone, World, message, open_world

from hitsend.engine import ScriptedEngine
from hitsend.runner import TurnBegan, TurnEnded
from hitsend.server.limits.open_calls import WAITING_PER_OPEN
from hitsend.settings import Settings

MAX_TURNS = 48
MOST_OF_A_KEY = MAX_TURNS // 3
SEND = "/backend-api/f/conversation"
PREPARE = "/backend-api/f/conversation/prepare"
SILENT = "!script first=60s"


@pytest.fixture
async def small(settings: Settings) -> AsyncGenerator[World]:
    few = structs.replace(settings, max_turns=MAX_TURNS)
    async with open_world(few, ScriptedEngine()) as world:
        yield world


async def flood(world: World, hog: Someone, *, is_streamed: bool) -> list[Exchange]:
    """Sends as many silent questions as there is room for, on one API key."""
    body = {
        "model": "auto",
        "messages": [{"role": "user", "content": SILENT}],
        "stream": is_streamed,
    }
    headers = {"authorization": f"Bearer {hog.key}"}
    request = http_request(world.url, "POST", "/v1/chat/completions", body, headers)
    return [await start_exchange(world.url, request) for _ in range(MAX_TURNS)]


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_hog_shuts_nobody_out_and_frees_the_room_by_hanging_up(
    small: World, is_streamed: bool
) -> None:
    hog, eve = await small.someone("hog"), await small.someone("eve")
    async with aclosing(small.app.runner.watch(hog.user_id)) as news:
        first = asyncio.ensure_future(anext(news))  # watches from now on
        exchanges = await flood(small, hog, is_streamed=is_streamed)
        began = [await first, *[await anext(news) for _ in range(MOST_OF_A_KEY - 1)]]
        assert all(isinstance(one, TurnBegan) for one in began)
        assert (await eve.send("!script\nAt once.")).text == "At once."
        for exchange in exchanges:
            exchange.transport.abort()
        ended = [await anext(news) for _ in range(MOST_OF_A_KEY)]
        assert all(isinstance(one, TurnEnded) for one in ended)
    assert small.app.runner.load() == 0


async def test_what_an_api_key_may_not_have_is_refused_with_a_time(small: World) -> None:
    hog = await small.someone("hog")
    exchanges = await flood(small, hog, is_streamed=True)
    ends = asyncio.as_completed([exchange.ended for exchange in exchanges])
    for _ in range(MAX_TURNS - MOST_OF_A_KEY):
        await next(ends)
    heads = [exchange.arrivals[0][1].lower() for exchange in exchanges if exchange.arrivals]
    assert len(heads) == MAX_TURNS - MOST_OF_A_KEY
    assert all(head.startswith(b"http/1.1 429 ") and b"retry-after:" in head for head in heads)


async def test_a_burst_is_answered_in_turns_between_people(settings: Settings) -> None:
    num_sends = 60
    roomy = structs.replace(settings, max_turns=1000)
    async with open_world(roomy, ScriptedEngine()) as world:
        hog, eve = await world.someone("hog"), await world.someone("eve")
        request = send_request(world, hog)
        burst = await asyncio.gather(
            *(start_exchange(world.url, request()) for _ in range(num_sends))
        )
        hers = await start_exchange(world.url, send_request(world, eve)())
        await asyncio.gather(hers.ended, *(one.ended for one in burst))
    heads = [one.arrivals[0] for one in burst]
    answered = [at for at, head in heads if head.startswith(b"HTTP/1.1 200 ")]
    assert {head[9:12] for _, head in heads} <= {b"200", b"503"}, "early, with a time"
    assert hers.arrivals[0][1].startswith(b"HTTP/1.1 200 ")
    assert hers.arrivals[0][0] < max(answered)


def send_request(world: World, someone: Someone) -> Callable[[], bytes]:
    headers = {"authorization": f"Bearer {someone.key}"}
    return lambda: http_request(world.url, "POST", SEND, message("!script\nDone."), headers)


async def test_calls_beyond_the_limit_wait_and_those_beyond_that_are_refused(
    settings: Settings,
) -> None:
    most = 2
    async with open_world(structs.replace(settings, max_calls=most), ScriptedEngine()) as world:
        ada, eve = await world.someone("ada"), await world.someone("eve")
        num_sent = most * (1 + WAITING_PER_OPEN) + 3
        lock = world.app.prepare_locks.lock(ada.user_id)
        async with lock:  # so that each of them stays open
            asking = [
                asyncio.create_task(ada.http.post(PREPARE, json=message("a draft")))
                for _ in range(num_sent)
            ]
            first, _ = await asyncio.wait(asking, return_when="FIRST_COMPLETED")
            assert {task.result().status_code for task in first} == {429}
            assert all(int(task.result().headers["retry-after"]) > 0 for task in first)
            assert (await eve.http.get("/backend-api/me")).status_code == 200
            sent = await ada.send("!script\nSends are not held up.")
            assert sent.text == "Sends are not held up."
        statuses = [answer.status_code for answer in await asyncio.gather(*asking)]
    assert statuses.count(429) == 3
