"""The real MiniLM: texts of similar meaning have close vectors, and crashes go unnoticed."""

import asyncio
import math
import os
import signal
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from tests.engine.answer import embedded, engine_processes

from hitsend.engine import MiniLm
from hitsend.engine.embedding.minilm import NUM_DIMENSIONS
from hitsend.engine.embedding.weights import MINILM, embedding_catalogue
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

PARAPHRASES = [
    ("The cat sits on the mat.", "A feline rests on a rug."),
    ("I am allergic to peanuts.", "Peanuts make me ill."),
    ("How do I sort a list in Python?", "Ordering the elements of a Python list"),
]
UNRELATED = [
    ("The cat sits on the mat.", "Stock markets fell sharply on Monday."),
    ("I am allergic to peanuts.", "The train to Oslo leaves at nine."),
    ("How do I sort a list in Python?", "My sister plays the cello."),
]

KNOWN = (0.101, 0.0301, 0.0324, -0.0387, 0.0764, -0.0542, 0.0039, -0.0072)
"""The first of 384 dimensions of "The capital of France is Paris." in onnxruntime."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def minilm() -> AsyncGenerator[MiniLm, None]:
    catalogue = embedding_catalogue(Settings().models_dir)
    await catalogue.pull(MINILM.name)
    minilm = MiniLm(Settings(), catalogue)
    await embedded(minilm, ["the first request"])
    yield minilm
    await minilm.close()


@asynccontextmanager
async def fresh_minilm() -> AsyncGenerator[tuple[MiniLm, int], None]:
    """A MiniLM with an empty cache, and its process."""
    others, minilm = engine_processes(), MiniLm(Settings())
    try:
        async with asyncio.timeout(60):
            await embedded(minilm, ["the first request"])
            (process,) = engine_processes() - others
            yield minilm, process
    finally:
        await minilm.close()
    assert engine_processes() == others


def values(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{NUM_DIMENSIONS}f", vector)


async def similarity(minilm: MiniLm, one: str, other: str) -> float:
    first, second = [values(vector) for vector in await embedded(minilm, [one, other])]
    return sum(a * b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
async def test_paraphrases_are_close(minilm: MiniLm, one: str, other: str) -> None:
    assert await similarity(minilm, one, other) > 0.5


@pytest.mark.parametrize(("one", "other"), UNRELATED)
async def test_unrelated_texts_are_far_apart(minilm: MiniLm, one: str, other: str) -> None:
    assert await similarity(minilm, one, other) < 0.2


async def test_german_texts_that_share_words_are_closer_than_others(
    minilm: MiniLm,
) -> None:
    question = "Wo arbeitet meine Schwester?"
    related = await similarity(minilm, question, "Meine Schwester arbeitet in einer Bäckerei.")
    assert related > 0.5
    assert related > 0.2 + await similarity(minilm, question, "Der Zug nach Oslo fährt um neun.")


async def test_vectors_equal_those_of_onnxruntime(minilm: MiniLm) -> None:
    (vector,) = await minilm.embed(["The capital of France is Paris."])
    assert values(vector)[:8] == pytest.approx(KNOWN, abs=0.005)
    assert math.hypot(*values(vector)) == pytest.approx(1.0, abs=1e-4)


async def test_vectors_are_in_the_order_of_the_texts(minilm: MiniLm) -> None:
    texts = [f"There are {n} birds on the roof of house {n * n}." for n in range(11)]
    together = await minilm.embed([*texts, texts[3]])
    assert together[3] == together[-1]
    assert len(set(together)) == len(texts)
    async with fresh_minilm() as (fresh, _):
        alone = [(await fresh.embed([text]))[0] for text in reversed(texts)]
    for one, other in zip(together, reversed(alone), strict=False):
        products = zip(values(one), values(other), strict=True)
        assert sum(a * b for a, b in products) > 0.999


async def test_texts_are_cut_at_the_models_window(minilm: MiniLm) -> None:
    long = "The quick brown fox jumps over the lazy dog. " * 500
    assert await similarity(minilm, long, long + "Stock markets fell sharply.") > 0.999


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "[SEP] [CLS]", "日本語", "👩‍👩‍👧", "a" * 5000, "ä̈" * 3000]
)
async def test_any_text_has_a_unit_vector(minilm: MiniLm, text: str) -> None:
    (vector,) = await minilm.embed([text])
    assert math.hypot(*values(vector)) == pytest.approx(1.0, abs=1e-4)


async def test_a_crash_during_a_request_goes_unnoticed(minilm: MiniLm) -> None:
    async with fresh_minilm() as (crashing, process):
        many = [f"sentence number {n}" for n in range(40)]
        under_way = asyncio.create_task(embedded(crashing, many))
        await crashing.embed(["one more, so that some of the many were asked for"])
        os.kill(process, signal.SIGKILL)
        assert len(await under_way) == len(many)


async def test_a_crash_between_two_requests_goes_unnoticed(minilm: MiniLm) -> None:
    async with fresh_minilm() as (crashing, process):
        os.kill(process, signal.SIGKILL)
        assert await similarity(crashing, *PARAPHRASES[0]) > 0.5


async def test_no_process_starts_before_the_first_request() -> None:
    others = engine_processes()
    unused = MiniLm(Settings())
    await unused.start()
    assert engine_processes() == others
    await unused.close()


async def test_vectors_are_cached() -> None:
    async with fresh_minilm() as (minilm, process):
        (first,) = await minilm.embed(["Something that was said before."])
        os.kill(process, signal.SIGSTOP)
        assert await minilm.embed(["Something that was said before."]) == [first]
        os.kill(process, signal.SIGCONT)
