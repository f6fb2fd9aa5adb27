"""A model's process dies, hangs or loses its parent."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
from tests.engine.answer import (
    LONG,
    answer_of,
    drain,
    engine_processes,
    prompt_of,
    wait_for_exit,
)

from hitsend.engine import Catalogue, Generated, LlamaEngine
from hitsend.engine.models.weights import Weights
from hitsend.errors import EngineLost
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

SILENCE_S = 3.0
NEVER_S = 3600.0

Starting: TypeAlias = Callable[[float], AbstractAsyncContextManager[tuple[LlamaEngine, int]]]


@pytest.fixture
def starting(settings: Settings, catalogue: Catalogue, small: Weights) -> Starting:
    """Starts an engine with this read timeout, and returns it with its process."""

    @asynccontextmanager
    async def starting(silence_s: float) -> AsyncGenerator[tuple[LlamaEngine, int], None]:
        others = engine_processes()
        impatient = msgspec.structs.replace(settings, engine_silence_s=silence_s)
        engine = LlamaEngine(impatient, catalogue)
        await engine.start()
        try:
            await engine.resolve("auto")
            (process,) = engine_processes() - others
            yield engine, process
        finally:
            await engine.close()

    return starting


async def test_killing_the_process_loses_its_answer_at_once(starting: Starting) -> None:
    async with asyncio.timeout(100), starting(NEVER_S) as (engine, process):
        prompt = await prompt_of(engine, "Tell me a long story.")
        async with aclosing(engine.generate(prompt, LONG)) as steps:
            while not isinstance(await anext(steps), Generated):
                continue
            os.kill(process, signal.SIGKILL)
            with pytest.raises(EngineLost):
                await drain(steps)
        assert (await answer_of(engine, prompt)).text
        assert engine.status().state == "ready"


async def test_waiting_answers_run_after_the_restart(starting: Starting) -> None:
    async with asyncio.timeout(100), starting(NEVER_S) as (engine, process):
        prompt = await prompt_of(engine, "Tell me a long story.")
        first = engine.generate(prompt, LONG)
        await anext(first)
        waiting = asyncio.create_task(answer_of(engine, prompt))
        while not engine.status().num_waiting:
            await anext(first)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(EngineLost):
            await drain(first)
        assert (await waiting).text


async def test_a_process_that_hangs_is_replaced_after_the_read_timeout(
    starting: Starting,
) -> None:
    async with asyncio.timeout(100), starting(SILENCE_S) as (engine, process):
        prompt = await prompt_of(engine, "Tell me a long story.")
        async with aclosing(engine.generate(prompt, LONG)) as steps:
            await anext(steps)
            os.kill(process, signal.SIGSTOP)
            with pytest.raises(EngineLost):
                await drain(steps)
        await wait_for_exit(process)
        assert (await answer_of(engine, prompt)).text


async def test_closing_the_engine_ends_its_process(starting: Starting) -> None:
    async with asyncio.timeout(100), starting(NEVER_S) as (engine, process):
        await engine.close()
        await wait_for_exit(process)


SERVER_PROGRAM = """
import asyncio, sys
from hitsend.engine import Catalogue, LlamaEngine
from hitsend.settings import Settings

async def main():
    settings = Settings(model=sys.argv[1], num_slots=1, num_window_tokens=256, engine_wait_s=60)
    engine = LlamaEngine(settings, Catalogue(settings.models_dir, None))
    await engine.start()
    await engine.resolve("auto")
    sys.stdout.write("ready")
    sys.stdout.flush()
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_model_processes_do_not_outlive_a_killed_server(small: Weights) -> None:
    source = Path(__file__).parents[2] / "src"
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER_PROGRAM, small.name,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(source)},
    )  # fmt: skip
    assert server.stdout
    async with asyncio.timeout(100):
        assert await server.stdout.readexactly(5) == b"ready"
        (model,) = engine_processes(server.pid)
        server.kill()
        await server.communicate()
        await wait_for_exit(model)
