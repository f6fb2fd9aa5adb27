"""Models are loaded and evicted, with processes that die at once."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.unit.engine.models.tiny_gguf import TINY_GGUF

from hitsend.engine import Catalogue, LlamaEngine
from hitsend.engine.models.catalogue import Entry
from hitsend.errors import EngineDown, ModelBroken, UnknownModel
from hitsend.settings import Settings

NAMES = ("first", "second", "third")


def entry(name: str) -> Entry:
    return Entry(
        name=name,
        title=name.title(),
        file_name=f"{name}.gguf",
        sha256=hashlib.sha256(TINY_GGUF).hexdigest(),
        num_bytes=len(TINY_GGUF),
        quantisation="F32",
        num_window_tokens=2048,
        can_call_tools=False,
    )


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncGenerator[LlamaEngine, None]:
    catalogue = Catalogue(tmp_path, entries=[entry(name) for name in NAMES])
    for name in NAMES:
        (tmp_path / f"{name}.gguf").write_bytes(TINY_GGUF)
        await catalogue.pull(name)
    settings = Settings(models_dir=tmp_path, llama_server=Path("/bin/false"), engine_wait_s=20.0)
    engine = LlamaEngine(settings, catalogue)
    async with asyncio.timeout(60):
        yield engine
        await engine.close()


async def test_a_caller_cancelled_during_an_eviction_does_not_block_the_load(
    engine: LlamaEngine,
) -> None:
    for name in NAMES[:2]:
        with pytest.raises(ModelBroken):
            await engine.resolve(name)
    impatient = asyncio.create_task(engine.resolve("third"))
    while "Third is loading" not in engine.status().detail:
        await asyncio.wait({impatient}, timeout=0)
    impatient.cancel()
    with pytest.raises(ModelBroken):  # the load was tried: the caller does not wait in vain
        await engine.resolve("third")


async def test_require_ready_loads_nothing(engine: LlamaEngine) -> None:
    with pytest.raises(EngineDown, match="Second is not loaded"):
        await engine.require_ready("second")
    with pytest.raises(EngineDown):
        await engine.require_ready("auto")
    with pytest.raises(UnknownModel):
        await engine.require_ready("fourth")
    assert "loading" not in engine.status().detail
