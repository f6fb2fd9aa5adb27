"""The process of a model dies, hangs, or is left alone, and what becomes of the rest."""

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
from tests.engine.asking import (
    LONG,
    answer_of,
    engine_processes,
    gone,
    heard_to_the_end,
    prompt_of,
)

from hitsend.engine import Catalogue, Generated, LlamaEngine
from hitsend.engine.weights import Weights
from hitsend.errors import EngineLost
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

SILENCE_S = 3.0
NEVER_S = 3600.0

Starting: TypeAlias = Callable[[float], AbstractAsyncContextManager[tuple[LlamaEngine, int]]]


@pytest.fixture
def starting(settings: Settings, catalogue: Catalogue, small: Weights) -> Starting:
    """An engine of its own for each test, that may be silent for so long; and its process."""

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


async def test_an_answer_is_lost_at_once_when_its_engine_is_killed(starting: Starting) -> None:
    async with asyncio.timeout(100), starting(NEVER_S) as (engine, process):
        prompt = await prompt_of(engine, "Tell me a long story.")
        async with aclosing(engine.generate(prompt, LONG)) as steps:
            while not isinstance(await anext(steps), Generated):
                continue
            os.kill(process, signal.SIGKILL)
            with pytest.raises(EngineLost):
                await heard_to_the_end(steps)
        assert (await answer_of(engine, prompt)).text
        assert engine.status().state == "ready"


async def test_those_who_wait_are_answered_after_the_restart(starting: Starting) -> None:
    async with asyncio.timeout(100), starting(NEVER_S) as (engine, process):
        prompt = await prompt_of(engine, "Tell me a long story.")
        first = engine.generate(prompt, LONG)
        await anext(first)
        waiting = asyncio.create_task(answer_of(engine, prompt))
        while not engine.status().num_waiting:
            await anext(first)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(EngineLost):
            await heard_to_the_end(first)
        assert (await waiting).text


async def test_an_engine_that_hangs_is_lost_after_its_silence_and_replaced(
    starting: Starting,
) -> None:
    async with asyncio.timeout(100), starting(SILENCE_S) as (engine, process):
        prompt = await prompt_of(engine, "Tell me a long story.")
        async with aclosing(engine.generate(prompt, LONG)) as steps:
            await anext(steps)
            os.kill(process, signal.SIGSTOP)
            with pytest.raises(EngineLost):
                await heard_to_the_end(steps)
        await gone(process)
        assert (await answer_of(engine, prompt)).text


async def test_closing_the_engine_ends_its_process(starting: Starting) -> None:
    async with asyncio.timeout(100), starting(NEVER_S) as (engine, process):
        await engine.close()
        await gone(process)


ORPHANING = """
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


async def test_no_model_outlives_a_killed_server(small: Weights) -> None:
    source = Path(__file__).parents[2] / "src"
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ORPHANING, small.name,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(source)},
    )  # fmt: skip
    assert server.stdout
    async with asyncio.timeout(100):
        assert await server.stdout.readexactly(5) == b"ready"
        (model,) = engine_processes(server.pid)
        server.kill()
        await server.communicate()
        await gone(model)
