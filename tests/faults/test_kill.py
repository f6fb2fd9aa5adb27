"""kill -9 in the middle of answers: what anyone was shown is there after the restart."""

import asyncio
import logging
import random
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from tests.faults.history import SEND, History, Received
from tests.faults.process import key_in, serving
from tests.server.world import Heard, message

log = logging.getLogger(__name__)

READY_S = 3.0
REPLAY_S = 0.5
CHARS_PER_TOKEN = 5


@dataclass(frozen=True)
class Toll:
    """What a kill came to."""

    num_shown: int
    """Characters, on all screens."""
    num_cut: int
    """Answers it interrupted."""
    ready_s: float
    ready_processor_s: float
    replay_s: float
    """The slowest."""


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_character_that_was_shown_survives_kill_9(tmp_path: Path, seed: int) -> None:
    toll = await killed(tmp_path, random.Random(seed), num_streams=25)
    assert toll.num_shown > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
async def test_two_thousand_streams_survive_forty_kills(tmp_path: Path, seed: int) -> None:
    toll = await killed(tmp_path, random.Random(seed), num_streams=50)
    log.warning(
        "%d characters shown and kept, %d answers cut, ready in %.2f s (processor: %.2f s), "
        "slowest replay %.0f ms",
        toll.num_shown, toll.num_cut, toll.ready_s, toll.ready_processor_s, toll.replay_s * 1000,
    )  # fmt: skip
    assert toll.ready_processor_s <= READY_S
    assert toll.replay_s <= REPLAY_S


async def killed(data_dir: Path, chance: random.Random, num_streams: int) -> Toll:
    """Streams begin and end at different times; at some moment of all that comes the kill."""
    key, received = await key_in(data_dir), Received()
    scripts = [script(chance) for _ in range(num_streams)]
    num_chars = CHARS_PER_TOKEN * sum(num_tokens for num_tokens, _ in scripts)
    received.enough = num_chars * chance.uniform(0.01, 0.9)
    histories = [History.of(text, received) for _, text in scripts]
    async with (
        serving(data_dir) as served,
        served.as_owner_of(key) as http,
        asyncio.TaskGroup() as clients,
    ):
        for history in histories:
            clients.create_task(history.send(http))
        async with asyncio.timeout(60):
            await received.has_enough.wait()
        await served.kill()
    num_shown = received.num_chars
    async with serving(data_dir) as served, served.as_owner_of(key) as http:
        assert (await http.get("/readyz")).status_code == 200
        await asyncio.gather(*(one.send(http) for one in histories if not one.heard))
        cut = [one for one in histories if (await one.check(http)).ending == "interrupted"]
        replay_s = max(one.replay_s for one in histories)
        for history in [one for one in cut if one.text][:1]:
            await check_it_goes_on(http, history)
    return Toll(num_shown, len(cut), served.start_s, served.start_processor_s, replay_s)


def script(chance: random.Random) -> tuple[int, str]:
    """How many tokens, and an answer of so many: short or long, fast or slow, soon or late."""
    num_tokens, pace, first = chance.randint(1, 120), chance.randint(5, 25), chance.randint(0, 800)
    batch = chance.choice((1, 1, 1, 7))
    return num_tokens, f"!script tokens={num_tokens} pace={pace}ms first={first}ms batch={batch}"


async def check_it_goes_on(http: httpx2.AsyncClient, history: History) -> None:
    """An answer that was cut can be continued, and written anew."""
    kept = await history.kept(http)
    here = {"conversation_id": kept.conversation_id, "messages": []}
    for action, parent_id in (("continue", kept.answer_id), ("variant", history.message_id)):
        body = message("") | here | {"action": action, "parent_message_id": parent_id}
        async with http.stream("POST", SEND, json=body) as response:
            assert response.status_code == 200, await response.aread()
            heard = await Heard(response.headers).take(response)
        assert heard.is_done
        assert heard.of_type("message_stream_complete")["status"] == "finished_successfully"
