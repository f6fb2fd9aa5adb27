"""Models are loaded at the first start, on request, and despite broken weights."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
from tests.engine.answer import LONG, answer_of, engine_processes, prompt_of, wait_for_exit

from hitsend.engine import Catalogue, Download, LlamaEngine, Preempted
from hitsend.engine.models.weights import Weights
from hitsend.errors import EngineDown, ModelBroken
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

Progress: TypeAlias = Callable[[Download], None]


class PausableCatalogue(Catalogue):
    """A catalogue whose default, a copy of the small model, arrives when the test says so."""

    def __init__(self, small: Weights) -> None:
        super().__init__(small.path.parent, None)
        self._small = small
        self._late = msgspec.structs.replace(small, name=self.default, title="The late one")
        self.has_arrived = asyncio.Event()
        self.has_begun = asyncio.Event()
        self.problem: str | None = None

    def find(self, name: str) -> Weights | None:
        return next((weights for weights in self.installed() if weights.name == name), None)

    def installed(self) -> list[Weights]:
        return [self._small, self._late] if self.has_arrived.is_set() else [self._small]

    async def pull(self, name: str, on_progress: Progress = lambda _: None) -> Weights:
        if name == self.default and not self.has_arrived.is_set():
            on_progress(Download(name, 25, 100))
            self.has_begun.set()
            if self.problem:
                raise ModelBroken(self.problem)
            await self.has_arrived.wait()
        weights = self.find(name)
        assert weights
        return weights


class UncheckedCatalogue(Catalogue):
    """A catalogue with one file, whose content is not checked."""

    def __init__(self, path: Path, small: Weights) -> None:
        super().__init__(path.parent, None)
        self._weights = msgspec.structs.replace(small, name="half", title="Half", path=path)

    def installed(self) -> list[Weights]:
        return [self._weights]

    async def pull(self, name: str, on_progress: Progress = lambda _: None) -> Weights:
        return self._weights


@asynccontextmanager
async def running(settings: Settings, catalogue: Catalogue) -> AsyncGenerator[LlamaEngine, None]:
    engine = LlamaEngine(settings, catalogue)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


@pytest.fixture
def first_start(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, model="auto")


async def test_the_first_start_uses_the_small_model_until_the_default_arrives(
    first_start: Settings, small: Weights
) -> None:
    catalogue, others = PausableCatalogue(small), engine_processes()
    async with asyncio.timeout(90), running(first_start, catalogue) as engine:
        assert (await engine.resolve("auto")).name == catalogue.small
        (old_process,) = engine_processes() - others
        await catalogue.has_begun.wait()
        assert engine.status().state == "ready"
        assert engine.status().downloads == (Download(catalogue.default, 25, 100),)
        assert "25 %" in engine.status().detail
        old_answer = engine.generate(await prompt_of(engine, "Hello there."), LONG)
        await anext(old_answer)
        catalogue.has_arrived.set()
        while (await engine.resolve("auto")).name == catalogue.small:
            await anext(old_answer)
        assert engine.status().downloads == ()
        assert await anext(old_answer)
        await old_answer.aclose()
        assert (await answer_of(engine, await prompt_of(engine, "Hello there."))).text
        await wait_for_exit(old_process)


async def test_a_start_with_the_default_on_disk_loads_nothing_else(
    first_start: Settings, small: Weights
) -> None:
    catalogue, others = PausableCatalogue(small), engine_processes()
    catalogue.has_arrived.set()
    async with running(first_start, catalogue) as engine:
        assert (await engine.resolve("auto")).name == catalogue.default
        assert len(engine_processes() - others) == 1


async def test_a_model_asked_for_by_name_is_loaded_beside_the_default(
    first_start: Settings, small: Weights
) -> None:
    catalogue, others = PausableCatalogue(small), engine_processes()
    catalogue.has_arrived.set()
    async with running(first_start, catalogue) as engine:
        await engine.resolve("auto")
        assert [facts.name for facts in await engine.models()] == [
            catalogue.default,
            catalogue.small,
        ]
        with pytest.raises(EngineDown, match="is not loaded"):
            await engine.require_ready(catalogue.small)
        assert len(engine_processes() - others) == 1
        prompt = await prompt_of(engine, "Hello there.", catalogue.small)
        assert prompt.model == catalogue.small
        assert (await answer_of(engine, prompt)).text
        await engine.require_ready(catalogue.small)
        assert len(engine_processes() - others) == 2


class ThreeModelCatalogue(PausableCatalogue):
    """Has a third model, a copy of the small one."""

    third = "third"

    def installed(self) -> list[Weights]:
        return [*super().installed(), msgspec.structs.replace(self._small, name=self.third)]


async def test_idle_work_does_not_keep_a_model_from_loading(
    first_start: Settings, small: Weights
) -> None:
    catalogue = ThreeModelCatalogue(small)
    catalogue.has_arrived.set()
    async with asyncio.timeout(90), running(first_start, catalogue) as engine:
        await engine.resolve("auto")
        prompt = await prompt_of(engine, "Tell me about boats.", catalogue.small)
        idle = asyncio.create_task(engine.generate_when_idle(prompt, LONG))
        next_one = asyncio.create_task(engine.generate_when_idle(prompt, LONG))
        await engine.tokenize("auto", "Meanwhile its first word is asked for.")
        assert engine.status().num_busy_slots == 1
        assert (await engine.resolve(catalogue.third)).name == catalogue.third
        with pytest.raises(Preempted):
            await idle
        with pytest.raises(EngineDown, match="is not loaded"):
            await next_one


async def test_a_download_that_fails_is_reported_while_the_small_model_answers(
    first_start: Settings, small: Weights
) -> None:
    catalogue = PausableCatalogue(small)
    catalogue.problem = "The index has no such package."
    async with asyncio.timeout(60), running(first_start, catalogue) as engine:
        await catalogue.has_begun.wait()
        await engine.resolve("auto")
        (download,) = engine.status().downloads
        assert download.problem == catalogue.problem
        assert engine.status().state == "ready"


async def test_weights_that_do_not_load_are_reported(
    settings: Settings, small: Weights, truncated: Path
) -> None:
    broken = msgspec.structs.replace(settings, model="half")
    async with running(broken, UncheckedCatalogue(truncated, small)) as engine:
        with pytest.raises(ModelBroken, match="not within the file bounds"):
            await engine.resolve("half")
        with pytest.raises(EngineDown, match="half.gguf"):
            await engine.resolve("auto")
        assert engine.status().state == "down"
        assert "hitsend models" in engine.status().detail


async def test_a_truncated_file_given_by_path_is_refused_before_it_is_loaded(
    settings: Settings, catalogue: Catalogue, truncated: Path
) -> None:
    others = engine_processes()
    broken = msgspec.structs.replace(settings, model=str(truncated))
    async with running(broken, catalogue) as engine:
        with pytest.raises(EngineDown, match="bytes are missing"):
            await engine.resolve("auto")
        assert engine.status().state == "down"
        assert engine_processes() == others


async def test_an_engine_that_is_starting_reports_it(settings: Settings, small: Weights) -> None:
    hasty = msgspec.structs.replace(settings, engine_wait_s=0.01)
    async with running(hasty, PausableCatalogue(small)) as engine:
        with pytest.raises(EngineDown) as raised:
            await engine.resolve("auto")
        assert raised.value.retry_after_s
        assert engine.status().state == "starting"


LLAMA_SERVER = """#!{python}
import os, sys, threading, xllamacpp
words = sys.argv[1:]
given = dict(zip(words, words[1:]))
params = xllamacpp.CommonParams()
params.model.path = given["--model"]
params.hostnames = [given["--host"]]
params.api_keys = [os.environ["LLAMA_API_KEY"]]
params.n_parallel = int(given["--parallel"])
params.n_ctx = int(given["--ctx-size"])
params.kv_unified = "--kv-unified" in words
params.cpuparams.n_threads = int(given["--threads"])
params.verbosity = int(given["--verbosity"])
server = xllamacpp.Server(params)
threading.Event().wait()
"""
"""A program with the command line of the llama-server binary."""


async def test_a_llama_server_binary_can_replace_the_built_in_one(
    settings: Settings, small: Weights, tmp_path: Path
) -> None:
    binary, others = tmp_path / "llama-server", engine_processes()
    binary.write_text(LLAMA_SERVER.format(python=sys.executable))
    binary.chmod(0o700)
    own = msgspec.structs.replace(settings, llama_server=binary)
    async with running(own, PausableCatalogue(small)) as engine:
        assert (await answer_of(engine, await prompt_of(engine, "Hello there."))).text
        assert engine_processes() == others


async def test_a_missing_binary_is_reported(
    settings: Settings, small: Weights, tmp_path: Path
) -> None:
    own = msgspec.structs.replace(settings, llama_server=tmp_path / "nowhere", model=small.name)
    async with running(own, PausableCatalogue(small)) as engine:
        with pytest.raises(ModelBroken, match="nowhere"):
            await engine.resolve(small.name)
