"""hitsend with a real model gets a stop signal, or is killed, in the middle of an answer."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.engine.answer import engine_processes, wait_for_exit
from tests.faults.history import CharacterCount, History
from tests.faults.process import Served, key_in, serve_process

from hitsend.engine.models.weights import Weights

pytestmark = pytest.mark.asyncio(loop_scope="session")

STORY = "Tell me a very long story about a lighthouse."


class Answering(NamedTuple):
    served: Served
    model: int
    """The process that runs the model."""
    histories: list[History]
    listening: asyncio.Future[list[None]]


@asynccontextmanager
async def answering(
    data_dir: Path, small: Weights, num_answers: int = 1
) -> AsyncGenerator[Answering]:
    """Answers are running: the first words of each have arrived."""
    key = await key_in(data_dir)
    environment = {
        "HITSEND_MODEL": small.name,
        "HITSEND_MODELS_DIR": str(small.path.parent),
        "HITSEND_EMBEDDINGS": "words",
        "HITSEND_MAX_ANSWER_TOKENS": "120",
        "HITSEND_NUM_SLOTS": "2",
        "HITSEND_NUM_WINDOW_TOKENS": "1024",
        "HITSEND_ENGINE_WAIT_S": "90",
        "HITSEND_DRAIN_S": "90",
    }
    histories = [History.of(STORY, CharacterCount(enough=1)) for _ in range(num_answers)]
    async with (
        asyncio.timeout(110),
        serve_process(data_dir, environment, engine="llama") as served,
        served.as_user(key) as http,
    ):
        listening = asyncio.gather(*(one.send(http) for one in histories))
        await histories[0].received.has_enough.wait()
        (model,) = engine_processes(served.process.pid)
        yield Answering(served, model, histories, listening)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_stop_signal_to_all_processes_lets_the_answer_finish(
    tmp_path: Path, small: Weights, number: signal.Signals
) -> None:
    await check_drain(tmp_path, small, number, num_answers=1)


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("round_number", range(5))
async def test_many_answers_finish_after_a_stop_signal(
    tmp_path: Path, small: Weights, number: signal.Signals, round_number: int
) -> None:
    await check_drain(tmp_path, small, number, num_answers=2 + round_number % 3)


async def check_drain(
    data_dir: Path, small: Weights, number: signal.Signals, num_answers: int
) -> None:
    async with answering(data_dir, small, num_answers) as (served, model, histories, listening):
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(model, stop)  # as systemd does, which signals every process of a service
        os.killpg(served.process.pid, number)  # as a terminal does on Ctrl-C
        await listening
        assert await served.process.wait() == 0
        await wait_for_exit(model)
    for history in histories:
        assert history.stream
        end = history.stream.of_type("message_stream_complete")
        assert end["status"] == "finished_successfully"


async def test_the_model_ends_with_a_server_that_is_killed(tmp_path: Path, small: Weights) -> None:
    async with answering(tmp_path, small) as (served, model, _, listening):
        await served.kill()
        await wait_for_exit(model)
        await listening
