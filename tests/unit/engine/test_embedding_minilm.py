"""MiniLM's process answers wrongly, or only in part: nobody hears more than that it is down."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.engine.asking import embedded
from tests.unit.engine import fake_llama
from tests.unit.engine.fake_llama import GARBLED, LEFT_OUT, REFUSED, SHORT

from hitsend.engine import Catalogue, MiniLm
from hitsend.engine.embedding_minilm import BATCH_TEXTS, NICENESS
from hitsend.engine.weights import Weights
from hitsend.errors import EngineDown, HitsendError, ModelBroken
from hitsend.settings import Settings


class Shelf(Catalogue):
    """Holds one file, and did not look into it."""

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
    binary.write_text(f'#!/bin/sh\nexec {sys.executable} -S {fake_llama.__file__} "$@"\n')
    binary.chmod(0o700)
    return Settings(llama_server=binary)


@pytest.fixture
async def minilm(settings: Settings, weights: Path) -> AsyncGenerator[MiniLm]:
    one = MiniLm(settings, Shelf(weights))
    try:
        async with asyncio.timeout(60):
            yield one
    finally:
        await one.close()


@pytest.mark.parametrize("wrong", [REFUSED, SHORT, LEFT_OUT, GARBLED])
async def test_a_wrong_answer_is_no_more_than_an_engine_that_is_down(
    minilm: MiniLm, wrong: str
) -> None:
    (vector,) = await embedded(minilm, ["good"])
    assert len(vector) == 4 * minilm.num_dimensions
    with pytest.raises(EngineDown):
        await embedded(minilm, ["good as well", wrong])


async def test_what_was_found_before_a_failure_is_not_asked_for_again(
    minilm: MiniLm, weights: Path
) -> None:
    good = [f"text {number}" for number in range(BATCH_TEXTS)]
    with pytest.raises(EngineDown):
        await embedded(minilm, [*good, REFUSED])
    asked = weights.with_suffix(".asked").read_text().splitlines()
    assert [json.loads(line) for line in asked] == [good, [REFUSED]]
    assert len(await minilm.embed(good)) == BATCH_TEXTS
    assert weights.with_suffix(".asked").read_text().splitlines() == asked


async def test_weights_that_cannot_be_looked_at_are_no_more_than_down(weights: Path) -> None:
    minilm = MiniLm(Settings(), Shelf(weights, ModelBroken("damaged")))
    with pytest.raises(EngineDown, match="damaged"):
        await minilm.embed(["anything"])
    await minilm.close()


async def test_it_gives_way_to_answers_and_is_there_only_while_it_is_needed(
    settings: Settings, weights: Path
) -> None:
    minilm = MiniLm(settings, Shelf(weights), unused_s=0.0)
    async with asyncio.timeout(60):
        for text in ("one", "two"):
            assert await embedded(minilm, [text])
            for _ in range(2):  # turns of the loop
                await asyncio.sleep(0)
        await minilm.close()
    starts = weights.with_suffix(".starts").read_text().splitlines()
    assert len(starts) >= 2
    assert {int(niceness) - os.nice(0) for niceness in starts} == {NICENESS}
