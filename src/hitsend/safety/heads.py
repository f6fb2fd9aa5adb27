"""What the classifier tells of a text, and the small networks that compute it from a vector.

`HEADS` are independent of each other: a text may be harmful and a jailbreak, or neither.
"""

import math
from array import array
from collections import deque
from typing import Any, Literal, TypeAlias
from zlib import crc32

import msgspec
import simsimd

Category: TypeAlias = Literal[
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/intent",
    "self-harm/instructions",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
]
"""OpenAI's moderation taxonomy."""
Head: TypeAlias = Literal["harm", "jailbreak", "injection", "answer harm", "refusal"] | Category

CATEGORIES: tuple[Category, ...] = (
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/intent",
    "self-harm/instructions",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
)
ANSWER_HEADS: tuple[Head, ...] = ("answer harm", "refusal")
"""These read what a model wrote. The others read what people, files, pages and tools say."""
HEADS: tuple[Head, ...] = ("harm", "jailbreak", "injection", *ANSWER_HEADS, *CATEGORIES)
NGRAM_HEADS: tuple[Head, ...] = ("harm", "jailbreak", "injection", "answer harm")

NUM_DIMENSIONS = 384
NUM_HIDDEN = 256
NUM_BUCKETS = 1 << 16
NGRAM_LENGTHS = (3, 4, 5)
MAX_NGRAM_CHARS = 1000
"""Of each window."""
MAX_STREAM_NGRAMS = MAX_NGRAM_CHARS * len(NGRAM_LENGTHS)


class Ngrams(msgspec.Struct, frozen=True):
    """A linear model over hashed character n-grams: weak, and there when the encoder is not."""

    tables: bytes
    """A table of signed bytes for each of `NGRAM_HEADS`, one after the other."""
    scales: tuple[float, ...]
    biases: tuple[float, ...]

    def score(self, text: str) -> dict[Head, float]:
        buckets = hash_ngrams(text)
        length = math.sqrt(len(buckets) or 1)
        scores: dict[Head, float] = {}
        for number, head in enumerate(NGRAM_HEADS):
            table = memoryview(self.tables)[number * NUM_BUCKETS :].cast("b")
            total = sum([table[bucket] for bucket in buckets]) * self.scales[number]
            scores[head] = _sigmoid(total / length + self.biases[number])
        return scores

    def stream(self, head: Head) -> "NgramStream":
        return NgramStream(self, head)


class NgramStream:
    """Scores a text while it grows, by one head: after each piece the score is what `Ngrams.score`
    gives for the text so far, or for about its last `MAX_NGRAM_CHARS`. It takes about a microsecond
    for a character."""

    def __init__(self, ngrams: Ngrams, head: Head) -> None:
        number = NGRAM_HEADS.index(head)
        tables = memoryview(ngrams.tables)
        self._table = tables[number * NUM_BUCKETS : (number + 1) * NUM_BUCKETS].cast("b")
        self._scale, self._bias = ngrams.scales[number], ngrams.biases[number]
        self._tail = b" "
        self._has_space = True
        """Spaces at the beginning and the end do not count, and several count as one."""
        self._is_pending = False
        self._counts: dict[int, int] = {}
        self._window: deque[int] = deque()
        self._total = 0

    def add(self, text: str) -> float:
        content = self._tail + self._squeeze(text).encode()
        for end in range(len(self._tail) + 1, len(content) + 1):
            for length in NGRAM_LENGTHS:
                if length <= end:
                    self._add_bucket(crc32(content[end - length : end]) % NUM_BUCKETS)
        self._tail = content[-(NGRAM_LENGTHS[-1] - 1) :]
        while len(self._window) > MAX_STREAM_NGRAMS:
            self._remove_bucket(self._window.popleft())
        return self.score

    @property
    def score(self) -> float:
        length = math.sqrt(len(self._counts) or 1)
        return _sigmoid(self._total * self._scale / length + self._bias)

    def _squeeze(self, text: str) -> str:
        """A space is held back until a word follows it."""
        words = " ".join(text.lower().split())
        if not words:
            self._is_pending = self._is_pending or (bool(text) and not self._has_space)
            return ""
        is_apart = self._is_pending or (text[0].isspace() and not self._has_space)
        self._has_space, self._is_pending = False, text[-1].isspace()
        return f" {words}" if is_apart else words

    def _add_bucket(self, bucket: int) -> None:
        count = self._counts.get(bucket, 0)
        if not count:
            self._total += self._table[bucket]
        self._counts[bucket] = count + 1
        self._window.append(bucket)

    def _remove_bucket(self, bucket: int) -> None:
        count = self._counts[bucket]
        if count > 1:
            self._counts[bucket] = count - 1
        else:
            del self._counts[bucket]
            self._total -= self._table[bucket]


class Heads(msgspec.Struct, frozen=True):
    """One hidden layer for all heads. Matrices are row-major float32."""

    hidden: bytes
    hidden_bias: bytes
    output: bytes
    output_bias: bytes

    def __post_init__(self) -> None:
        sizes = [len(part) // 4 for part in msgspec.structs.astuple(self)]
        wanted = [NUM_HIDDEN * NUM_DIMENSIONS, NUM_HIDDEN, NUM_HIDDEN * len(HEADS), len(HEADS)]
        if sizes != wanted:
            raise ValueError("The classifier's matrices have other sizes.")

    def score(self, vector: bytes) -> dict[Head, float]:
        hidden = _apply_layer(self.hidden, self.hidden_bias, vector)
        rectified = array("f", [max(value, 0.0) for value in hidden])
        logits = _apply_layer(self.output, self.output_bias, rectified.tobytes())
        return dict(zip(HEADS, map(_sigmoid, logits), strict=True))


def hash_ngrams(text: str) -> list[int]:
    """Returns the buckets of the n-grams, each once. The words cannot be told from them."""
    content = f" {' '.join(text[:MAX_NGRAM_CHARS].lower().split())}".encode()
    return list(
        {
            crc32(content[at : at + length]) % NUM_BUCKETS
            for length in NGRAM_LENGTHS
            for at in range(len(content) - length + 1)
        }
    )


def _apply_layer(matrix: bytes, bias: bytes, vector: bytes) -> list[float]:
    rows, query = _as_matrix(matrix, len(vector)), _as_matrix(vector, len(vector))
    found = simsimd.cdist(query, rows, metric="dot")
    assert isinstance(found, simsimd.DistancesTensor)
    products = array("d", memoryview(found).cast("B").tobytes())
    biases = memoryview(bias).cast("f")
    return [product + one for product, one in zip(products, biases, strict=True)]


def _as_matrix(numbers: bytes, num_row_bytes: int) -> "memoryview[Any]":
    return memoryview(numbers).cast("f", (len(numbers) // num_row_bytes, num_row_bytes // 4))


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-max(min(logit, 60.0), -60.0)))
