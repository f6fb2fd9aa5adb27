"""Texts that share words have close vectors."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine import WordHashes
from hitsend.engine.embedding.word_hashes import NUM_DIMENSIONS

words = WordHashes()


def values(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{NUM_DIMENSIONS}f", vector)


async def similarity(one: str, other: str) -> float:
    first, second = [values(vector) for vector in await words.embed([one, other])]
    return sum(a * b for a, b in zip(first, second, strict=True))


@given(st.text())
async def test_every_text_has_a_unit_vector_that_never_changes(text: str) -> None:
    (vector,), again = await words.embed([text]), await words.embed([text])
    assert math.isclose(math.hypot(*values(vector)), 1.0, rel_tol=1e-5)
    assert again == [vector]


async def test_a_shared_rare_word_wins_over_shared_common_ones() -> None:
    question = "What is the name of my tortoise?"
    assert await similarity(question, "A tortoise called Bertha lives here") > await similarity(
        question, "What is the name of my street?"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("allergies", "ALLERGIES!"),
        ("I like painting", "she likes to paint"),
        ("Die Straße in Köln", "strasse koln"),
        ("meine Katzen", "eine Katze"),
    ],
)
async def test_case_accents_and_endings_do_not_matter(one: str, other: str) -> None:
    assert await similarity(one, other) > 0.5


async def test_texts_without_a_common_word_are_far_apart() -> None:
    assert abs(await similarity("quarterly revenue forecast", "feeding hedgehogs at night")) < 0.2
