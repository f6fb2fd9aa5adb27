"""Writes GGUF, the format llama.cpp reads. The same input gives the same bytes.

`models/gguf` is the reader.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Literal, TypeAlias

import msgspec

VERSION = 3
ALIGNMENT = 32
BLOCK_WEIGHTS = 32

BOOL, STRING, ARRAY = 7, 8, 9
UINT32, INT32, FLOAT32 = 4, 5, 6
TYPES = {"F32": 0, "Q8_0": 8}

Fact: TypeAlias = bool | int | float | str | Sequence[str] | Sequence[int]


class TensorToWrite(msgspec.Struct, frozen=True):
    name: str
    shape: tuple[int, ...]
    """Row-major: GGUF stores the dimensions in reverse order."""
    type: Literal["F32", "Q8_0"]
    data: bytes


def write_gguf(
    file: IO[bytes], facts: Mapping[str, Fact], tensors: Sequence[TensorToWrite]
) -> None:
    head = [
        b"GGUF",
        struct.pack("<IQQ", VERSION, len(tensors), len(facts)),
        *(_string(key) + _value(value) for key, value in facts.items()),
    ]
    offset = 0
    for tensor in tensors:
        head.append(_entry(tensor, offset))
        offset += _align(len(tensor.data))
    file.write(_pad(b"".join(head)))
    for tensor in tensors:
        file.write(_pad(tensor.data))


def q8_rows(rows: Iterable[bytes], scales: Sequence[float]) -> bytes:
    """Quantises rows of signed bytes to Q8_0. All blocks of a row have its scale."""
    content = bytearray()
    for row, scale in zip(rows, scales, strict=True):
        half = struct.pack("<e", scale)
        for at in range(0, len(row), BLOCK_WEIGHTS):
            content += half
            content += row[at : at + BLOCK_WEIGHTS]
    return bytes(content)


def _entry(tensor: TensorToWrite, offset: int) -> bytes:
    shape = tensor.shape[::-1]
    extents = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return _string(tensor.name) + extents + struct.pack("<IQ", TYPES[tensor.type], offset)


def _value(value: Fact) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", BOOL, value)
        case int():
            return struct.pack("<II", UINT32, value)
        case float():
            return struct.pack("<If", FLOAT32, value)
        case str():
            return struct.pack("<I", STRING) + _string(value)
        case _:
            return struct.pack("<I", ARRAY) + _array(value)


def _array(items: Sequence[str] | Sequence[int]) -> bytes:
    strings = [_string(item) for item in items if isinstance(item, str)]
    if strings:
        return struct.pack("<IQ", STRING, len(strings)) + b"".join(strings)
    return struct.pack(f"<IQ{len(items)}i", INT32, len(items), *items)


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _align(num_bytes: int) -> int:
    return -(-num_bytes // ALIGNMENT) * ALIGNMENT


def _pad(content: bytes) -> bytes:
    return content.ljust(_align(len(content)), b"\0")
