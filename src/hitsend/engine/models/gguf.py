"""Reads and validates the header of a GGUF file.

Weights come from strangers, and llama.cpp parses them in C++. A file with impossible counts,
lengths, types or tensor offsets is refused here, before llama.cpp opens it. The weights themselves
are not read.
"""

import struct
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import NoReturn, TypeAlias

import msgspec

from hitsend.errors import ModelBroken

MAX_HEADER_BYTES = 256 * 2**20
MAX_ENTRIES = 65_536
MAX_ARRAY_ITEMS = 4 * 2**20
MAX_STRING_BYTES = 4 * 2**20
MAX_NAME_BYTES = 65_535
MAX_DIMENSIONS = 4
MAX_ALIGNMENT = 65_536

STRING, ARRAY = 8, 9
SCALARS = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
U32, U64 = SCALARS[4], SCALARS[10]

# fmt: off
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4),
    27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66),
    39: (32, 17), 40: (64, 36),
}
"""Tensor type to the number of weights in a block, and the bytes of a block."""

FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}
# fmt: on

Value: TypeAlias = int | float | bool | str
Array: TypeAlias = tuple[Value, ...]
Metadata: TypeAlias = dict[str, Value]


class Header(msgspec.Struct, frozen=True):
    """The metadata of a GGUF file, without arrays: see `read_arrays`."""

    metadata: Metadata
    num_tensors: int

    @property
    def title(self) -> str | None:
        name = self.metadata.get("general.name")
        return name if isinstance(name, str) and name.strip() else None

    @property
    def num_window_tokens(self) -> int | None:
        length = self.metadata.get(f"{self.metadata.get('general.architecture')}.context_length")
        return length if isinstance(length, int) and length > 0 else None

    @property
    def quantisation(self) -> str | None:
        kind = self.metadata.get("general.file_type")
        return FILE_TYPES.get(kind) if isinstance(kind, int) else None

    @property
    def can_call_tools(self) -> bool:
        """Whether the chat template mentions tools."""
        return "tools" in str(self.metadata.get("tokenizer.chat_template", ""))


def read_header(path: Path) -> Header:
    """Raises ModelBroken if the file is not safe for llama.cpp. Blocks: use a thread."""
    with _open_reader(path) as reader:
        return reader.header()


def read_arrays(path: Path, names: Collection[str]) -> dict[str, Array]:
    """Returns the named arrays that the file has. Raises ModelBroken. Blocks: use a thread."""
    with _open_reader(path) as reader:
        return reader.arrays(names)


@contextmanager
def _open_reader(path: Path) -> Iterator["_Reader"]:
    try:
        with path.open("rb") as file:
            yield _Reader(path.name, file, path.stat().st_size)
    except OSError as error:
        raise ModelBroken(f"{path} cannot be read: {error.strerror}.") from error


class _Reader:
    def __init__(self, name: str, file: BufferedReader, num_bytes: int) -> None:
        self._name = name
        self._file = file
        self._num_bytes = num_bytes
        self._position = 0

    def header(self) -> Header:
        num_tensors = self._num_tensors()
        metadata = {key: value for key, value in self._entries() if not isinstance(value, tuple)}
        if metadata.get("split.count", 0) not in (0, 1):
            self._refuse("it is one part of several; join them with llama-gguf-split")
        self._check_tensors(num_tensors, metadata.get("general.alignment", 32))
        return Header(metadata, num_tensors)

    def arrays(self, names: Collection[str]) -> dict[str, Array]:
        self._num_tensors()
        found = self._entries(names)
        return {key: value for key, value in found if key in names and isinstance(value, tuple)}

    def _num_tensors(self) -> int:
        if self._take(4) != b"GGUF":
            self._refuse("it is not a GGUF file")
        if (version := self._number(U32)) not in (2, 3):
            self._refuse(f"GGUF version {version} is not supported")
        return self._count(U64, MAX_ENTRIES, "tensors")

    def _entries(self, wanted: Collection[str] = ()) -> Iterator[tuple[str, Value | Array]]:
        """Skips the items of arrays that are not in `wanted`, after checking their sizes."""
        seen = set()
        for _ in range(self._count(U64, MAX_ENTRIES, "metadata entries")):
            key = self._string(MAX_NAME_BYTES)
            if key in seen:
                self._refuse(f"{key!r} is there twice")
            seen.add(key)
            kind = self._number(U32)
            if kind == ARRAY:
                yield key, self._array(self._take if key in wanted else self._skip)
            elif kind == STRING:
                yield key, self._string(MAX_STRING_BYTES)
            else:
                yield key, self._scalar(kind)

    def _check_tensors(self, num_tensors: int, alignment: Value) -> None:
        if not isinstance(alignment, int) or not 1 <= alignment <= MAX_ALIGNMENT:
            self._refuse("its alignment is out of range")
        if alignment & (alignment - 1):
            self._refuse("its alignment is not a power of two")
        extents = dict(self._extent(alignment) for _ in range(num_tensors))
        if len(extents) != num_tensors:
            self._refuse("a tensor is there twice")
        data_start = -(-self._position // alignment) * alignment
        furthest = max(extents.values(), default=0)
        if data_start + furthest > self._num_bytes:
            missing = data_start + furthest - self._num_bytes
            self._refuse(f"{missing:,} bytes are missing at its end")

    def _extent(self, alignment: int) -> tuple[str, int]:
        """Returns a tensor's name, and its end as an offset from the start of the data."""
        name = self._string(MAX_NAME_BYTES)
        num_dimensions = self._count(U32, MAX_DIMENSIONS, "dimensions of a tensor")
        shape = [self._number(U64) for _ in range(num_dimensions)]
        kind, offset = self._number(U32), self._number(U64)
        if kind not in BLOCKS:
            self._refuse(f"tensor {name!r} is of an unknown type ({kind})")
        num_weights, num_block_bytes = BLOCKS[kind]
        if offset % alignment or (shape[0] if shape else 1) % num_weights:
            self._refuse(f"tensor {name!r} is misaligned")
        return name, offset + prod(shape) // num_weights * num_block_bytes

    def _array(self, read: Callable[[int], bytes]) -> Array:
        kind = self._number(U32)
        num_items = self._count(U64, MAX_ARRAY_ITEMS, "items of an array")
        if kind == STRING:
            strings = (read(self._size(MAX_STRING_BYTES)) for _ in range(num_items))
            return tuple([string.decode(errors="replace") for string in strings])
        if kind not in SCALARS:
            self._refuse(f"an array is of an unknown type ({kind})")
        packed = read(num_items * SCALARS[kind].size)
        return tuple([item for (item,) in SCALARS[kind].iter_unpack(packed)])

    def _scalar(self, kind: int) -> Value:
        if kind not in SCALARS:
            self._refuse(f"a value is of an unknown type ({kind})")
        value: Value = SCALARS[kind].unpack(self._take(SCALARS[kind].size))[0]
        return value

    def _number(self, kind: struct.Struct) -> int:
        number: int = kind.unpack(self._take(kind.size))[0]
        return number

    def _count(self, kind: struct.Struct, most: int, what: str) -> int:
        if (number := self._number(kind)) > most:
            self._refuse(f"it claims {number:,} {what}")
        return number

    def _string(self, most: int) -> str:
        return self._take(self._size(most)).decode(errors="replace")

    def _size(self, most: int) -> int:
        return self._count(U64, most, "bytes of a string")

    def _take(self, num_bytes: int) -> bytes:
        self._advance(num_bytes)
        taken = self._file.read(num_bytes)
        if len(taken) < num_bytes:
            self._refuse("it ends in the middle of its header")
        return taken

    def _skip(self, num_bytes: int) -> bytes:
        self._advance(num_bytes)
        self._file.seek(num_bytes, 1)
        return b""

    def _advance(self, num_bytes: int) -> None:
        self._position += num_bytes
        if self._position > self._num_bytes:
            self._refuse("it ends in the middle of its header")
        if self._position > MAX_HEADER_BYTES:
            self._refuse("its header is too large")

    def _refuse(self, why: str) -> NoReturn:
        raise ModelBroken(f"{self._name} cannot be used: {why}.")
