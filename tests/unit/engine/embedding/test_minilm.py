"""Every failure of MiniLM's process is EngineDown to its callers."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.engine.answer import embedded
from tests.unit.engine.embedding import fake_embedding_server
from tests.unit.engine.embedding.fake_embedding_server import GARBLED, LEFT_OUT, REFUSED, SHORT

from hitsend.engine import Catalogue, MiniLm
from hitsend.engine.embedding.minilm import BATCH_TEXTS, NICENESS, NUM_BYTES
from hitsend.engine.models.weights import Weights
from hitsend.errors import EngineDown, HitsendError, ModelBroken
from hitsend.settings import Settings


class UncheckedCatalogue(Catalogue):
    """Has one file, whose content is not checked."""

    def __init__(self, weights: Path, problem: HitsendError | None = None) -> None:
        super().__init__(weights.parent, None)
        self._weights = weights
        self._problem = problem

    def find(self, name: str) -> Weights | None:
        if self._problem:
            raise self._problem
        return Weights(name, "Tiny", self._weights, "", 0, "Q8_0", 512, can_call_tools=False)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return tmp_path / "tiny.gguf"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    binary = tmp_path / "llama-server"
    binary.write_text(
        f'#!/bin/sh\nexec {sys.executable} -S {fake_embedding_server.__file__} "$@"\n'
    )
    binary.chmod(0o700)
    return Settings(llama_server=binary)


@pytest.fixture
async def minilm(settings: Settings, weights: Path) -> AsyncGenerator[MiniLm]:
    one = MiniLm(settings, UncheckedCatalogue(weights))
    try:
        async with asyncio.timeout(60):
            yield one
    finally:
        await one.close()


@pytest.mark.parametrize("wrong", [REFUSED, SHORT, LEFT_OUT, GARBLED])
async def test_a_wrong_answer_is_engine_down(minilm: MiniLm, wrong: str) -> None:
    (vector,) = await embedded(minilm, ["good"])
    assert len(vector) == NUM_BYTES
    with pytest.raises(EngineDown):
        await embedded(minilm, ["good as well", wrong])


async def test_vectors_from_before_a_failure_are_cached(minilm: MiniLm, weights: Path) -> None:
    good = [f"text {number}" for number in range(BATCH_TEXTS)]
    with pytest.raises(EngineDown):
        await embedded(minilm, [*good, REFUSED])
    requests = weights.with_suffix(".requests").read_text().splitlines()
    assert [json.loads(line) for line in requests] == [good, [REFUSED]]
    assert len(await minilm.embed(good)) == BATCH_TEXTS
    assert weights.with_suffix(".requests").read_text().splitlines() == requests


async def test_weights_that_cannot_be_read_are_engine_down(weights: Path) -> None:
    minilm = MiniLm(Settings(), UncheckedCatalogue(weights, ModelBroken("damaged")))
    with pytest.raises(EngineDown, match="damaged"):
        await minilm.embed(["anything"])
    await minilm.close()


async def test_the_process_has_low_priority_and_ends_when_unused(
    settings: Settings, weights: Path
) -> None:
    minilm = MiniLm(settings, UncheckedCatalogue(weights), unused_s=0.0)
    async with asyncio.timeout(60):
        for text in ("one", "two"):
            assert await embedded(minilm, [text])
            for _ in range(2):  # turns of the loop
                await asyncio.sleep(0)
        await minilm.close()
    starts = weights.with_suffix(".starts").read_text().splitlines()
    assert len(starts) >= 2
    assert {int(niceness) - os.nice(0) for niceness in starts} == {NICENESS}
