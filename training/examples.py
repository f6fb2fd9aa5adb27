"""Training rows as numbers, and the encoder they are fitted to: what `training.prepare` writes."""

from typing import TypeAlias

import msgspec

from training.rows import Part

PREPARED_FILE = "prepared.msgpack"
FITTED_FILE = "encoder.npz"
"""The encoder before it is quantised, in half precision."""
NUM_TOKENS = 256
"""The encoder reads so many at a time."""

Target: TypeAlias = bool | None


class Example(msgspec.Struct, frozen=True):
    tokens: list[int]
    buckets: bytes
    """Of the n-grams, two bytes each; only for rows to train with."""
    targets: list[Target]
    """By head; None where the row says nothing."""
    weight: float
    part: Part
    source: str


class BaseTensor(msgspec.Struct, frozen=True):
    """Row-major; `Q8_0` has a scale for each 32 weights."""

    name: str
    shape: tuple[int, ...]
    type: str
    data: bytes


class Prepared(msgspec.Struct, frozen=True):
    examples: list[Example]
    vocabulary: list[str]
    base: list[BaseTensor]
