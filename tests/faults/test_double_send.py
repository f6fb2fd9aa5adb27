"""Sends repeated at once, twenty times, and after a crash: each runs once."""

import asyncio
import random
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import msgspec
import pytest
from tests.faults.history import SEND, CharacterCount, History
from tests.faults.process import Served, key_in, serve_process

NUM_AT_ONCE = 20


@pytest.mark.parametrize("seed", [1])
async def test_twenty_sends_a_kill_and_twenty_more_are_one_turn(tmp_path: Path, seed: int) -> None:
    await send_repeatedly(tmp_path, random.Random(seed))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(300, 325))
async def test_a_thousand_sends_of_twenty_five_messages(tmp_path: Path, seed: int) -> None:
    await send_repeatedly(tmp_path, random.Random(seed))


async def send_repeatedly(data_dir: Path, chance: random.Random) -> None:
    key, received = await key_in(data_dir), CharacterCount(enough=chance.uniform(1, 4000))
    first = History.of("!script tokens=100 pace=10ms", received)
    before = [first, *(History(first.body, received) for _ in range(NUM_AT_ONCE - 1))]
    async with serve_process(data_dir) as served, served.as_user(key) as http:
        sending = asyncio.gather(*(one.send(http) for one in before))
        async with asyncio.timeout(30):
            await received.has_enough.wait()
        await served.kill()
        await sending
    after = [History(first.body) for _ in range(NUM_AT_ONCE)]
    async with serve_process(data_dir) as served, served.as_user(key) as http:
        await asyncio.gather(*(one.send(http) for one in after))
        assert {one.status for one in after} == {200}
        stream = [one for one in (*before, *after) if one.stream]
        assert len({one.turn_id for one in stream}) == 1
        for one in stream:
            await one.check(http)
        assert await num_conversations(http) == 1


async def test_a_retry_after_a_lost_acknowledgement_is_the_same_turn(tmp_path: Path) -> None:
    key = await key_in(tmp_path)
    async with serve_process(tmp_path) as served, served.as_user(key) as http:
        for num in range(1, 11):
            history = History.of(f"!script\nanswer {num}")
            await send_and_disconnect(served, key, history)
            await history.send(http)
            stored = await history.check(http)
            assert stored.text == f"answer {num}"
            assert await num_conversations(http) == num


async def test_a_completion_repeated_across_a_kill_is_the_same_turn(tmp_path: Path) -> None:
    key = await key_in(tmp_path)
    body = {"model": "auto", "messages": [{"role": "user", "content": "!script\nonce"}]}
    answers = []
    for _ in range(2):
        async with serve_process(tmp_path) as served, served.as_user(key) as http:
            headers = {"idempotency-key": "the-same"}
            answers += await asyncio.gather(
                *(http.post("/v1/chat/completions", json=body, headers=headers) for _ in range(5))
            )
            await served.kill()
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


async def send_and_disconnect(served: Served, key: str, history: History) -> None:
    """Sends the message and ignores the response."""
    address, body = urlsplit(served.url), msgspec.json.encode(history.body)
    _, line = await asyncio.open_connection(address.hostname, address.port)
    head = (
        f"POST {SEND} HTTP/1.1\r\nhost: {address.netloc}\r\nauthorization: Bearer {key}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    line.write(head.encode() + body)
    await line.drain()
    line.close()
    await line.wait_closed()


async def num_conversations(http: httpx2.AsyncClient) -> int:
    return len((await http.get("/backend-api/conversations")).json()["items"])
