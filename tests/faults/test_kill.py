"""kill -9 in the middle of answers: everything that was shown is there after the restart."""

import asyncio
import logging
import random
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from tests.faults.history import SEND, CharacterCount, History
from tests.faults.process import key_in, serve_process
from tests.server.world import AnswerStream, message

log = logging.getLogger(__name__)

READY_S = 3.0
REPLAY_S = 0.5
CHARS_PER_TOKEN = 5


@dataclass(frozen=True)
class Results:
    """The results of one kill."""

    num_shown: int
    """Characters shown to all readers."""
    num_cut: int
    """Answers interrupted."""
    ready_s: float
    ready_processor_s: float
    replay_s: float
    """The slowest one."""


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_character_that_was_shown_survives_kill_9(tmp_path: Path, seed: int) -> None:
    toll = await run_kill(tmp_path, random.Random(seed), num_streams=25)
    assert toll.num_shown > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
async def test_two_thousand_streams_survive_forty_kills(tmp_path: Path, seed: int) -> None:
    toll = await run_kill(tmp_path, random.Random(seed), num_streams=50)
    log.warning(
        "%d characters shown and kept, %d answers cut, ready in %.2f s (processor: %.2f s), "
        "slowest replay %.0f ms",
        toll.num_shown, toll.num_cut, toll.ready_s, toll.ready_processor_s, toll.replay_s * 1000,
    )  # fmt: skip
    assert toll.ready_processor_s <= READY_S
    assert toll.replay_s <= REPLAY_S


async def run_kill(data_dir: Path, chance: random.Random, num_streams: int) -> Results:
    """Streams start and end at different times; the kill comes at a random moment of that."""
    key, received = await key_in(data_dir), CharacterCount()
    scripts = [script(chance) for _ in range(num_streams)]
    num_chars = CHARS_PER_TOKEN * sum(num_tokens for num_tokens, _ in scripts)
    received.enough = num_chars * chance.uniform(0.01, 0.9)
    histories = [History.of(text, received) for _, text in scripts]
    async with (
        serve_process(data_dir) as served,
        served.as_user(key) as http,
        asyncio.TaskGroup() as clients,
    ):
        for history in histories:
            clients.create_task(history.send(http))
        async with asyncio.timeout(60):
            await received.has_enough.wait()
        await served.kill()
    num_shown = received.num_chars
    async with serve_process(data_dir) as served, served.as_user(key) as http:
        assert (await http.get("/readyz")).status_code == 200
        await asyncio.gather(*(one.send(http) for one in histories if not one.stream))
        cut = [one for one in histories if (await one.check(http)).ending == "interrupted"]
        replay_s = max(one.replay_s for one in histories)
        for history in [one for one in cut if one.text][:1]:
            await check_can_continue(http, history)
    return Results(num_shown, len(cut), served.start_s, served.start_processor_s, replay_s)


def script(chance: random.Random) -> tuple[int, str]:
    """Returns a number of tokens and a script of that length: short or long, fast or slow."""
    num_tokens, pace, first = chance.randint(1, 120), chance.randint(5, 25), chance.randint(0, 800)
    batch = chance.choice((1, 1, 1, 7))
    return num_tokens, f"!script tokens={num_tokens} pace={pace}ms first={first}ms batch={batch}"


async def check_can_continue(http: httpx2.AsyncClient, history: History) -> None:
    """Checks that a cut answer can be continued and regenerated."""
    stored = await history.read_stored(http)
    here = {"conversation_id": stored.conversation_id, "messages": []}
    for action, parent_id in (("continue", stored.answer_id), ("variant", history.message_id)):
        body = message("") | here | {"action": action, "parent_message_id": parent_id}
        async with http.stream("POST", SEND, json=body) as response:
            assert response.status_code == 200, await response.aread()
            stream = await AnswerStream(response.headers).take(response)
        assert stream.is_done
        assert stream.of_type("message_stream_complete")["status"] == "finished_successfully"
