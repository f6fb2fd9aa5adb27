"""Answers over a network that is cut again and again: the client reads them whole, and each is
written once."""

import asyncio
import logging
import os
import random
import sys
import time
from asyncio.subprocess import PIPE
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
from tests.faults.history import StoredTurn
from tests.faults.process import Served, key_in, serve_process
from tests.faults.proxy import Fault, bad_network, port_of

from hitsend.client import Backoff, Client, Finished, Retrying, Started, TextAdded, TextReplaced

log = logging.getLogger(__name__)

NUM_TOKENS = 250
NUM_STREAMS_EACH = 5
QUICK = Backoff(max_tries=40, first_s=0.02, longest_s=0.5)
SILENCE_S = 1.0
BACK_S = 1.0
"""From the last reconnect to the next word, for all but the slowest percent."""


@dataclass
class Reading:
    """One answer as its reader saw it."""

    text: str = ""
    started: list[Started] = field(default_factory=list)
    finished: list[Finished] = field(default_factory=list)
    num_retries: int = 0
    waits_s: list[float] = field(default_factory=list)
    """The time from the end of a reader's last pause to the next event, for each pause."""

    async def read(self, client: Client, script: str) -> "Reading":
        back_at: float | None = None
        async with client.send(script) as answer:
            async for update in answer:
                if isinstance(update, Retrying):
                    self.num_retries += 1
                    back_at = time.monotonic() + update.delay_s
                    continue
                if back_at is not None:
                    self.waits_s.append(time.monotonic() - back_at)
                    back_at = None
                assert not isinstance(update, TextReplaced)
                self._take(update)
        return self

    def _take(self, update: object) -> None:
        match update:
            case TextAdded(text=text):
                self.text += text
            case Started():
                self.started.append(update)
            case Finished():
                self.finished.append(update)

    async def check(self, http: httpx2.AsyncClient) -> None:
        """Checks that the answer was read as it is stored, and was asked and answered once."""
        (started,), (finished,) = self.started, self.finished
        stored = await StoredTurn.of(http, started.turn_id)
        assert finished.status == "finished_successfully"
        assert self.text == finished.text == stored.text == stored.stored_text
        assert stored.seqs == list(range(1, len(stored.seqs) + 1))
        assert len(stored.messages) == 2


@pytest.mark.parametrize("seed", [7])
async def test_two_hundred_cuts_lose_and_repeat_no_word(tmp_path: Path, seed: int) -> None:
    async with serve_process(tmp_path) as served:
        toll = await run_over_bad_network(tmp_path, served, seed, num_people=4, num_cuts=200)
    assert toll.cuts.total() == 200


@pytest.mark.soak
async def test_a_thousand_cuts_over_a_hundred_streams(tmp_path: Path) -> None:
    async with serve_process(tmp_path) as served:
        tolls = [
            await run_over_bad_network(tmp_path, served, seed, num_people=4, num_cuts=200)
            for seed in range(100, 105)
        ]
    print_results(tolls)
    assert slowest_s(tolls, 0.99) <= BACK_S
    assert sum(toll.cuts.total() for toll in tolls) == 1000
    assert sum(len(toll.readings) for toll in tolls) == 100


async def test_an_answer_can_be_resumed_after_the_server_was_killed(tmp_path: Path) -> None:
    key = await key_in(tmp_path)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(serve_process(tmp_path))
        network = await stack.enter_async_context(bad_network(first.url, seed=1, num_cuts=0))
        client = await stack.enter_async_context(Client(network.url, key, QUICK))
        answer, stream = client.send(f"!script tokens={NUM_TOKENS} pace=10ms\none two "), ""
        async for update in answer:
            stream += update.text if isinstance(update, TextAdded) else ""
            if stream and first.process.returncode is None:
                await first.kill()
                second = await stack.enter_async_context(serve_process(tmp_path))
                network.port = port_of(second.url)
        assert answer.finished
        assert (answer.finished.status, answer.finished.text) == ("interrupted", stream)


async def test_the_terminal_chat_prints_every_word_over_a_bad_network(tmp_path: Path) -> None:
    key, said = await key_in(tmp_path), "!script tokens=150 pace=10ms\none two "
    async with (
        serve_process(tmp_path) as served,
        bad_network(served.url, 3, 3, reset_soon) as network,
    ):
        chat = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "hitsend", "chat", "--url", network.url, "--key", key,
            stdin=PIPE, stdout=PIPE, stderr=PIPE, env=os.environ | {"PYTHONPATH": "src"},
        )  # fmt: skip
        async with asyncio.timeout(60):
            printed, errors = await chat.communicate(said.encode())
        async with Client(served.url, key) as client:
            (line,) = (await client.conversations()).items
            _, stored = (await client.conversation(line.id)).path()
    assert (printed.decode(), errors) == (stored.text + "\n", b"")
    assert network.cuts.total() == 3


def reset_soon(chance: random.Random) -> Fault:
    return Fault("reset", "down", chance.randint(0, 3000))


@dataclass(frozen=True)
class Results:
    """The results of a run over a bad network."""

    readings: list[Reading]
    cuts: Counter[str]

    @property
    def waits_s(self) -> list[float]:
        return [wait_s for one in self.readings for wait_s in one.waits_s]


async def run_over_bad_network(
    data_dir: Path, served: Served, seed: int, *, num_people: int, num_cuts: int
) -> Results:
    """Several users with several streams each: a single user would be rate limited."""
    chance = random.Random(seed)
    keys = [await key_in(data_dir, f"person{seed}.{number}") for number in range(num_people)]
    async with bad_network(served.url, seed, num_cuts) as network:
        reading = [read_all(network.url, key, scripts(chance, NUM_STREAMS_EACH)) for key in keys]
        found = await asyncio.gather(*reading)
    for key, readings in zip(keys, found, strict=True):
        async with served.as_user(key) as http:
            await check_all(http, readings)
    assert all(one.num_retries for readings in found for one in readings), "some were never cut"
    return Results([one for readings in found for one in readings], network.cuts)


def print_results(tolls: list[Results]) -> None:
    readings = [one for toll in tolls for one in toll.readings]
    log.warning(
        "%d streams, %d characters, cuts: %s, %d tries, back in %.0f ms (median), %.0f ms (99 %%)",
        len(readings), sum(len(one.text) for one in readings),
        dict(sum((toll.cuts for toll in tolls), Counter[str]())),
        sum(one.num_retries for one in readings),
        1000 * slowest_s(tolls, 0.5), 1000 * slowest_s(tolls, 0.99),
    )  # fmt: skip


def slowest_s(tolls: list[Results], share: float) -> float:
    waits_s = sorted(wait_s for toll in tolls for wait_s in toll.waits_s)
    return waits_s[int(share * len(waits_s))]


async def read_all(url: str, key: str, said: list[str]) -> list[Reading]:
    async with Client(url, key, QUICK, silence_s=SILENCE_S) as client:
        return await asyncio.gather(*(Reading().read(client, script) for script in said))


async def check_all(http: httpx2.AsyncClient, readings: list[Reading]) -> None:
    for one in readings:
        await one.check(http)
    conversations = (await http.get("/backend-api/conversations?limit=100")).json()
    assert conversations["total"] == len(readings), "something was said twice"


def scripts(chance: random.Random, num_streams: int) -> list[str]:
    """Answers of some seconds, in chunks of several sizes, with multi-byte characters."""
    return [
        f"!script tokens={NUM_TOKENS} pace={chance.randint(8, 16)}ms "
        f"batch={chance.choice((1, 1, 3))}\nÄ wörd, 二つ目の言葉, a 🙂 and nüмber {number}. "
        for number in range(num_streams)
    ]
