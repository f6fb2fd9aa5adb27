"""Converts MiniLM from ONNX and a tokenizer file to the GGUF that llama.cpp runs.

The int8 weights are copied unchanged: the scale of a row becomes the scale of each of its blocks.
Sizes are read from the tensors, so that tests can convert a tiny model of the same architecture. A
file of another architecture is refused before anything is written.
"""

import struct
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from hitsend.engine.embedding.gguf_writer import (
    BLOCK_WEIGHTS,
    Fact,
    TensorToWrite,
    q8_rows,
    write_gguf,
)
from hitsend.engine.embedding.onnx import Graph, Tensor, read_graph
from hitsend.errors import ModelBroken

NUM_HEADS = 12
EPSILON = 1e-12
MEAN_POOLING = 1
FILE_TYPE_Q8_0, QUANTISATION_VERSION = 7, 2
NORMAL, CONTROL = 1, 3
SPECIAL = frozenset({"[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"})
WORD_START = "\u2581"
CONTINUATION = "##"
MAX_SCALE = 65_504.0
"""The largest half-precision number."""

EMBEDDINGS = "inner.embeddings."
LAYER = "inner.encoder.layer.{}."
MATRICES = {
    "attn_q": "attention.self.query",
    "attn_k": "attention.self.key",
    "attn_v": "attention.self.value",
    "attn_output": "attention.output.dense",
    "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense",
}
NORMS = {
    "attn_output_norm": "attention.output.LayerNorm",
    "layer_output_norm": "output.LayerNorm",
}


class _AddedToken(msgspec.Struct, frozen=True):
    id: int
    content: str


class _WordPiece(msgspec.Struct, frozen=True):
    vocab: dict[str, int]


class _TokenizerFile(msgspec.Struct, frozen=True):
    model: _WordPiece
    added_tokens: list[_AddedToken]


def convert(onnx: Path, tokenizer: Path, gguf: Path) -> None:
    """Raises ModelBroken. Blocks for a second: use a thread."""
    facts, tensors = read_model(onnx, tokenizer)
    with gguf.open("wb") as file:
        write_gguf(file, facts, tensors)


def read_model(onnx: Path, tokenizer: Path) -> tuple[dict[str, Fact], list[TensorToWrite]]:
    """Returns what the GGUF file will contain. Raises ModelBroken."""
    graph = read_graph(onnx.read_bytes())
    try:
        vocabulary = msgspec.json.decode(tokenizer.read_bytes(), type=_TokenizerFile)
    except msgspec.DecodeError as error:
        raise ModelBroken(f"{tokenizer.name} is not a tokenizer: {error}.") from error
    facts = _facts(graph) | _tokenizer_facts(vocabulary, _num_words(graph))
    return facts, [*_embedding_tensors(graph), *_layer_tensors(graph)]


def _facts(graph: Graph) -> dict[str, Fact]:
    positions = graph.tensor(f"{EMBEDDINGS}position_embeddings.weight_q", "int8", num_axes=2)
    num_positions, num_dimensions = positions.shape
    bias = graph.tensor(f"{LAYER.format(0)}intermediate.dense.bias", "float32", num_axes=1)
    (num_inner,) = bias.shape
    return {
        "general.architecture": "bert",
        "general.name": "all-MiniLM-L6-v2",
        "general.file_type": FILE_TYPE_Q8_0,
        "general.quantization_version": QUANTISATION_VERSION,
        "bert.block_count": _num_layers(graph),
        "bert.context_length": num_positions,
        "bert.embedding_length": num_dimensions,
        "bert.feed_forward_length": num_inner,
        "bert.attention.head_count": NUM_HEADS,
        "bert.attention.layer_norm_epsilon": EPSILON,
        "bert.attention.causal": False,
        "bert.pooling_type": MEAN_POOLING,
    }


def _num_words(graph: Graph) -> int:
    return graph.tensor(f"{EMBEDDINGS}word_embeddings.weight_q", "int8", num_axes=2).shape[0]


def _tokenizer_facts(tokenizer: _TokenizerFile, num_words: int) -> dict[str, Fact]:
    tokens = sorted(tokenizer.model.vocab, key=tokenizer.model.vocab.__getitem__)
    special = {token.content: token.id for token in tokenizer.added_tokens}
    is_complete = sorted(tokenizer.model.vocab.values()) == list(range(num_words))
    if not is_complete or SPECIAL - special.keys():
        raise ModelBroken("The tokenizer is not that of the ONNX model.")
    return {
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.tokens": [_gguf_token(token, special) for token in tokens],
        "tokenizer.ggml.token_type": [CONTROL if t in special else NORMAL for t in tokens],
        "tokenizer.ggml.bos_token_id": special["[CLS]"],
        "tokenizer.ggml.cls_token_id": special["[CLS]"],
        "tokenizer.ggml.seperator_token_id": special["[SEP]"],  # the key's official spelling
        "tokenizer.ggml.unknown_token_id": special["[UNK]"],
        "tokenizer.ggml.padding_token_id": special["[PAD]"],
        "tokenizer.ggml.mask_token_id": special["[MASK]"],
    }


def _gguf_token(token: str, special: dict[str, int]) -> str:
    """WordPiece marks the continuation of a word, llama.cpp its start."""
    if token in special:
        return token
    if token.startswith(CONTINUATION):
        return token.removeprefix(CONTINUATION)
    return WORD_START + token


def _embedding_tensors(graph: Graph) -> Iterator[TensorToWrite]:
    words, scales = _read_quantised(graph, f"{EMBEDDINGS}word_embeddings.weight", row_axis=0)
    yield TensorToWrite("token_embd.weight", words.shape, "Q8_0", q8_rows(_rows(words), scales))
    yield _copy_tensor(graph, "token_types.weight", f"{EMBEDDINGS}token_type_embeddings.weight")
    yield _positions(graph)
    yield from _norm(graph, "token_embd_norm", f"{EMBEDDINGS}LayerNorm")


def _layer_tensors(graph: Graph) -> Iterator[TensorToWrite]:
    for layer in range(_num_layers(graph)):
        onnx_name = LAYER.format(layer)
        for gguf_name, name in MATRICES.items():
            yield _matrix(graph, f"blk.{layer}.{gguf_name}.weight", f"{onnx_name}{name}.bias")
            yield _copy_tensor(graph, f"blk.{layer}.{gguf_name}.bias", f"{onnx_name}{name}.bias")
        for gguf_name, name in NORMS.items():
            yield from _norm(graph, f"blk.{layer}.{gguf_name}", onnx_name + name)


def _num_layers(graph: Graph) -> int:
    layer = 0
    while f"{LAYER.format(layer)}output.dense.bias" in graph.tensors:
        layer += 1
    return layer


def _matrix(graph: Graph, name: str, bias: str) -> TensorToWrite:
    """Finds the matrix through its bias: the export has renamed matrices, but not biases."""
    product = next(one for one in graph.consumer("Add", bias).inputs if one != bias)
    weight = graph.producer("MatMul", product).inputs[1]
    matrix, scales = _read_quantised(graph, weight, row_axis=1)
    num_in, num_out = matrix.shape
    content = bytes(matrix.data)
    columns = (content[at::num_out] for at in range(num_out))
    return TensorToWrite(name, (num_out, num_in), "Q8_0", q8_rows(columns, scales))


def _positions(graph: Graph) -> TensorToWrite:
    """Dequantised: llama.cpp reads positions as float32."""
    positions, scales = _read_quantised(
        graph, f"{EMBEDDINGS}position_embeddings.weight", row_axis=0
    )
    values = [
        number * scale
        for row, scale in zip(_rows(positions), scales, strict=True)
        for number in array("b", row)
    ]
    data = struct.pack(f"<{len(values)}f", *values)
    return TensorToWrite("position_embd.weight", positions.shape, "F32", data)


def _norm(graph: Graph, gguf_name: str, onnx_name: str) -> Iterator[TensorToWrite]:
    for kind in ("weight", "bias"):
        yield _copy_tensor(graph, f"{gguf_name}.{kind}", f"{onnx_name}.{kind}")


def _copy_tensor(graph: Graph, gguf_name: str, onnx_name: str) -> TensorToWrite:
    tensor = graph.tensor(onnx_name, "float32")
    return TensorToWrite(gguf_name, tensor.shape, "F32", bytes(tensor.data))


def _read_quantised(graph: Graph, name: str, row_axis: int) -> tuple[Tensor, Sequence[float]]:
    """Returns a signed byte matrix and the scale of each row, as llama.cpp counts rows. Raises
    ModelBroken if a row cannot be cut into blocks, or a scale is not a half-precision number."""
    numbers = graph.tensor(f"{name}_q", "int8", num_axes=2)
    scales = _floats(graph.tensor(f"{name}_scale", "float32"))
    num_rows, num_columns = numbers.shape[row_axis], numbers.shape[1 - row_axis]
    if num_columns % BLOCK_WEIGHTS or len(scales) != num_rows:
        raise ModelBroken(f"{name} cannot be cut into blocks of {BLOCK_WEIGHTS} with a scale.")
    if not all(abs(scale) <= MAX_SCALE for scale in scales):
        raise ModelBroken(f"{name} has a scale that is not a half-precision number.")
    return numbers, scales


def _rows(tensor: Tensor) -> Iterator[bytes]:
    num_bytes = tensor.shape[-1]
    for at in range(0, len(tensor.data), num_bytes):
        yield bytes(tensor.data[at : at + num_bytes])


def _floats(tensor: Tensor) -> Sequence[float]:
    return struct.unpack(f"<{len(tensor.data) // 4}f", tensor.data)
