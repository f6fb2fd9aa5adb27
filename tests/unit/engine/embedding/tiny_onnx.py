"""A tiny ONNX model with MiniLM's architecture, and its tokenizer."""

import random
import struct
from collections.abc import Iterable, Iterator

import msgspec

NUM_DIMENSIONS, NUM_INNER, NUM_POSITIONS = 32, 64, 4
FLOAT32, UINT8, INT8 = 1, 2, 3
EMBEDDINGS = "inner.embeddings."
LAYER = "inner.encoder.layer.0."
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VOCABULARY = (*SPECIAL, "sun", "##ny", "[", "ä")

SHAPES = {
    "attention.self.query": (NUM_DIMENSIONS, NUM_DIMENSIONS),
    "attention.self.key": (NUM_DIMENSIONS, NUM_DIMENSIONS),
    "attention.self.value": (NUM_DIMENSIONS, NUM_DIMENSIONS),
    "attention.output.dense": (NUM_DIMENSIONS, NUM_DIMENSIONS),
    "intermediate.dense": (NUM_DIMENSIONS, NUM_INNER),
    "output.dense": (NUM_INNER, NUM_DIMENSIONS),
}


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def field(number: int, content: bytes | str) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def tensor(name: str, shape: tuple[int, ...], data: bytes, type: int = FLOAT32) -> bytes:
    extents = b"".join(varint(1 << 3) + varint(extent) for extent in shape)
    return field(5, extents + varint(2 << 3) + varint(type) + field(8, name) + field(9, data))


def node(operation: str, inputs: Iterable[str], output: str) -> bytes:
    encoded = b"".join(field(1, name) for name in inputs)
    return field(1, encoded + field(2, output) + field(4, operation))


def model(*graph: bytes) -> bytes:
    version = varint(1 << 3) + varint(10)
    return version + field(2, "by hand") + field(7, b"".join(graph))


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def matrix(dense: str) -> tuple[bytes, list[float]]:
    """Returns the signed bytes of a matrix, and the scale of each column."""
    num_in, num_out = SHAPES[dense]
    chance = random.Random(dense)
    return chance.randbytes(num_in * num_out), [
        2.0 ** -chance.randint(3, 9) for _ in range(num_out)
    ]


def _dense(name: str) -> Iterator[bytes]:
    numbers, scales = matrix(name)
    num_in, num_out = SHAPES[name]
    weight = f"val_{list(SHAPES).index(name)}"
    yield tensor(f"{LAYER}{name}.bias", (num_out,), floats(*range(num_out)))
    yield tensor(f"{weight}_q", (num_in, num_out), numbers, INT8)
    yield tensor(f"{weight}_scale", (1, num_out), floats(*scales))
    yield node("MatMul", ("something", weight), f"{weight}_product")
    yield node("Add", (f"{weight}_product", f"{LAYER}{name}.bias"), f"{weight}_sum")


def _table(name: str, num_rows: int) -> Iterator[bytes]:
    numbers = bytes(range(256))[:NUM_DIMENSIONS] * num_rows
    yield tensor(f"{EMBEDDINGS}{name}.weight_q", (num_rows, NUM_DIMENSIONS), numbers, INT8)
    yield tensor(f"{EMBEDDINGS}{name}.weight_scale", (num_rows, 1), floats(*[0.5] * num_rows))


def _norm(name: str) -> Iterator[bytes]:
    for kind in ("weight", "bias"):
        yield tensor(f"{name}.{kind}", (NUM_DIMENSIONS,), floats(*range(NUM_DIMENSIONS)))


def _graph() -> Iterator[bytes]:
    yield from _table("word_embeddings", len(VOCABULARY))
    yield from _table("position_embeddings", NUM_POSITIONS)
    types = floats(*range(2 * NUM_DIMENSIONS))
    yield tensor(f"{EMBEDDINGS}token_type_embeddings.weight", (2, NUM_DIMENSIONS), types)
    for name in ("embeddings.", "encoder.layer.0.attention.output.", "encoder.layer.0.output."):
        yield from _norm(f"inner.{name}LayerNorm")
    for dense in SHAPES:
        yield from _dense(dense)


GRAPH = tuple(_graph())
TINY_ONNX = model(*GRAPH)
TINY_TOKENIZER = msgspec.json.encode(
    {
        "version": "1.0",
        "added_tokens": [
            {"id": at, "content": token, "special": True} for at, token in enumerate(SPECIAL)
        ],
        "model": {
            "type": "WordPiece",
            "vocab": {token: at for at, token in enumerate(VOCABULARY)},
        },
    }
)
