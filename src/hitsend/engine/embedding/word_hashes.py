"""Embeddings without a model: each word stem is hashed to a few dimensions.

Texts are close if they share words, and closer if the words are long, as rare words tend to be.
For tests, for the scripted engine, and for installs without a model.
"""

import asyncio
import math
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b

NUM_DIMENSIONS = 512
NUM_PLACES = 8
"""Dimensions of each stem. Two stems that share one by chance are still far apart."""
STOP_WEIGHT = 0.05
MIN_STEM_CHARS = 4

WORD = re.compile(r"\w+")
SUFFIXES = ("ing", "ies", "est", "ed", "er", "en", "em", "es", "ly", "e", "n", "s", "y")
ENGLISH = """
a about am an and are as at be but by can could did do does for from had has have he her his how i
if in is it its me my no not of on or our she should so tell that the their them there they this to
us was we were what when where which who why will with would you your
"""
GERMAN = """
aber als am an auf aus bei bin bist da das dass dein dem den der des die du ein eine einen einer er
es hat habe ich ihr im ist ja kann kein man mein meine mich mir mit nein nicht oder sein sich sie
sind so und von war was wann warum wenn wer wie wir wo zu zum zur
"""
STOP_WORDS = frozenset((ENGLISH + GERMAN).split())
"""Words that are in every text get a low weight."""


class WordHashes:
    name = "words-1"

    async def start(self) -> None:
        """Does nothing."""

    async def close(self) -> None:
        """Does nothing."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return await asyncio.to_thread(lambda: [_vector(text) for text in texts])


def _vector(text: str) -> bytes:
    values = [0.0] * NUM_DIMENSIONS
    for stem, weight in _weights(text).items():
        for place, sign in _places(stem):
            values[place] += sign * weight
    length = math.hypot(*values)
    if not length:  # no words: close only to other texts without words
        values[0] = length = 1.0
    return struct.pack(f"<{NUM_DIMENSIONS}f", *(value / length for value in values))


def _weights(text: str) -> dict[str, float]:
    words = WORD.findall(_fold(text))
    return {
        stem: math.sqrt(count) * (STOP_WEIGHT if stem in STOP_WORDS else math.sqrt(len(stem)))
        for stem, count in Counter(map(_stem, words)).items()
    }


def _fold(text: str) -> str:
    """Removes case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _stem(word: str) -> str:
    if word in STOP_WORDS:
        return word
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= MIN_STEM_CHARS:
            return word.removesuffix(suffix)
    return word


def _places(stem: str) -> Iterator[tuple[int, float]]:
    digest = blake2b(stem.encode(), digest_size=2 * NUM_PLACES).digest()
    for number in struct.unpack(f"<{NUM_PLACES}H", digest):
        yield number % NUM_DIMENSIONS, 1.0 if number & 0x8000 else -1.0
