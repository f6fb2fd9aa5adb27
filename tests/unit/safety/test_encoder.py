"""The encoder's process, with the weights that come with hitsend."""

import asyncio
import math
import os
import signal
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hitsend.errors import EngineDown
from hitsend.safety.classifier import ENCODER_SHA256, WEIGHTS_FOLDER
from hitsend.safety.encoder import ChildEncoder
from hitsend.safety.encoder.process import MODEL_FILE, NUM_BYTES, VOCABULARY_FILE


@pytest.fixture
async def encoder() -> AsyncIterator[ChildEncoder]:
    encoder = ChildEncoder(WEIGHTS_FOLDER, ENCODER_SHA256)
    await encoder.start()
    yield encoder
    await encoder.close()


def find_cosine(one: bytes, other: bytes) -> float:
    pairs = zip(struct.iter_unpack("<f", one), struct.iter_unpack("<f", other), strict=True)
    return math.fsum(a * b for (a,), (b,) in pairs)


async def test_texts_become_vectors_of_length_one(encoder: ChildEncoder) -> None:
    bread, same, other, empty = await encoder.embed(
        ["How do I bake bread?", "how do I BAKE bread?", "I will find you and kill you.", ""]
    )
    assert len(bread) == NUM_BYTES
    assert find_cosine(bread, bread) == pytest.approx(1, abs=1e-5)
    assert same == bread
    assert find_cosine(bread, other) < 0.9
    assert len(empty) == NUM_BYTES


async def test_many_callers_get_each_their_own_vector(encoder: ChildEncoder) -> None:
    texts = [f"message number {number}" for number in range(12)]
    alone = [(await encoder.embed([text]))[0] for text in texts]
    together = await asyncio.gather(*(encoder.embed([text]) for text in texts))
    assert [vector for (vector,) in together] == alone


async def test_a_caller_that_gives_up_leaves_the_others_their_vectors(
    encoder: ChildEncoder,
) -> None:
    (wanted,) = await encoder.embed(["bread"])
    task = asyncio.create_task(encoder.embed(["a text " * 100]))
    await asyncio.sleep(0)
    task.cancel()
    assert await encoder.embed(["bread"]) == [wanted]
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_process_that_died_is_started_again(encoder: ChildEncoder) -> None:
    before = await encoder.embed(["bread"])
    assert encoder.process_id is not None
    os.kill(encoder.process_id, signal.SIGKILL)
    assert await encoder.embed(["bread"]) == before


async def test_a_closed_encoder_has_no_process_and_answers_nothing(encoder: ChildEncoder) -> None:
    await encoder.embed(["bread"])
    number = encoder.process_id
    await encoder.close()
    assert not encoder.is_ready
    with pytest.raises(EngineDown):
        await encoder.embed(["bread"])
    with pytest.raises(ProcessLookupError):
        os.kill(number or 0, 0)


async def test_damaged_weights_are_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in (MODEL_FILE, VOCABULARY_FILE):
        (tmp_path / name).write_bytes((WEIGHTS_FOLDER / name).read_bytes()[:-1])
    encoder = ChildEncoder(tmp_path, ENCODER_SHA256)
    try:
        with pytest.raises(EngineDown):
            await encoder.embed(["bread"])
        assert not encoder.is_ready
    finally:
        await encoder.close()
    assert "is damaged: its checksum is wrong" in caplog.text
