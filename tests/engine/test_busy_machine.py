"""The model's process on cores that it does not have for itself."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.engine.answer import LONG, answer_of, engine_processes, prompt_of

from hitsend.engine import Catalogue, LlamaEngine, Prompt
from hitsend.engine.models.weights import Weights
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHORT = msgspec.structs.replace(LONG, max_tokens=48)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="pins threads to a core")
async def test_threads_that_share_a_core_leave_it_to_one_another(
    settings: Settings, catalogue: Catalogue, small: Weights
) -> None:
    others = engine_processes()
    engine = LlamaEngine(msgspec.structs.replace(settings, num_threads=2), catalogue)
    await engine.start()
    try:
        prompt = await prompt_of(engine, "Tell me about rivers.")
        (process,) = engine_processes() - others
        await cpu_s_of_answer(engine, prompt, process)  # reads the prompt
        own_cores = await cpu_s_of_answer(engine, prompt, process)
        for thread in os.listdir(f"/proc/{process}/task"):
            os.sched_setaffinity(int(thread), {min(os.sched_getaffinity(0))})
        one_core = await cpu_s_of_answer(engine, prompt, process)
    finally:
        await engine.close()
    assert one_core < 3 * own_cores


async def cpu_s_of_answer(engine: LlamaEngine, prompt: Prompt, process: int) -> float:
    """CPU time does not depend on how busy the machine is, unless threads spin."""
    before = cpu_s(process)
    await answer_of(engine, prompt, SHORT)
    return cpu_s(process) - before


def cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
