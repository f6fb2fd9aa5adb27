"""Writes the fitted encoder as ONNX, with 8-bit matrices, as onnxruntime serves it.

A text is run alone, so nothing is padded or masked. Matrices have a scale for each output, words
one each; what is multiplied with them is quantised on the way. The format is protobuf, and only the
few fields that are needed are written, so that no package is.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

NUM_HEADS, NUM_LAYERS = 12, 6
EPSILON = 1e-12
INPUT, OUTPUT = "tokens", "vector"
IR_VERSION, OPSET, CONTRIB_OPSET = 9, 18, 1
CONTRIB = "com.microsoft"
FLOAT, INT8, INT64 = 1, 3, 7
TYPES = {np.dtype("<f4"): FLOAT, np.dtype("i1"): INT8, np.dtype("<i8"): INT64}
MOST = 127

Array: TypeAlias = Any
"""numpy is not typed here."""


@dataclass
class Graph:
    nodes: list[bytes] = field(default_factory=list)
    tensors: list[bytes] = field(default_factory=list)

    def add_tensor(self, name: str, values: Array) -> str:
        """Returns its name."""
        number = TYPES[values.dtype]
        dims = b"".join(_number(1, size) for size in values.shape)
        data = np.ascontiguousarray(values).tobytes()
        self.tensors.append(dims + _number(2, number) + _text(8, name) + _bytes(9, data))
        return name

    def run(
        self, operation: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object
    ) -> str:
        """Adds a node, and returns its first output."""
        domain = CONTRIB if operation in CONTRIB_OPERATIONS else ""
        self.nodes.append(
            b"".join(_text(1, one) for one in inputs)
            + b"".join(_text(2, one) for one in outputs)
            + _text(4, operation)
            + b"".join(_bytes(5, _attribute(*one)) for one in attributes.items())
            + _text(7, domain)
        )
        return outputs[0]


CONTRIB_OPERATIONS = frozenset(
    {"DynamicQuantizeMatMul", "MultiHeadAttention", "SkipLayerNormalization", "Gelu"}
)


def make_onnx(weights: Mapping[str, Array]) -> bytes:
    """`weights` have the names of `training.encoder`."""
    graph = Graph()
    hidden = _add_embedding(graph, weights)
    for number in range(NUM_LAYERS):
        hidden = _add_layer(graph, weights, f"blk.{number}", hidden)
    axes = graph.add_tensor("pool.axes", np.array([1], "<i8"))
    mean = graph.run("ReduceMean", [hidden, axes], ["mean"], keepdims=0)
    graph.run("LpNormalization", [mean], [OUTPUT], axis=-1, p=2)
    return _model(graph)


def _add_embedding(graph: Graph, weights: Mapping[str, Array]) -> str:
    numbers, scales = _quantize(weights["token_embd.weight"], axis=1)
    words = graph.add_tensor("words", numbers)
    word_scales = graph.add_tensor("words.scale", scales)
    positions = weights["position_embd.weight"] + weights["token_types.weight"][0]
    graph.add_tensor("positions", positions.astype("<f4"))
    whole = graph.run("Gather", [words, INPUT], ["words.int8"])
    scale = graph.run("Gather", [word_scales, INPUT], ["words.scales"])
    floats = graph.run("Cast", [whole], ["words.float"], to=FLOAT)
    embedded = graph.run("Mul", [floats, scale], ["words.vectors"])
    shape = graph.run("Shape", [INPUT], ["length"], start=1)
    zero = graph.add_tensor("zero", np.array([0], "<i8"))
    first = graph.run("Slice", ["positions", zero, shape, zero], ["positions.used"])
    placed = graph.run("Add", [embedded, first], ["embedded"])
    scale, bias = _add_norm(graph, weights, "token_embd_norm")
    return graph.run("LayerNormalization", [placed, scale, bias], ["hidden"], epsilon=EPSILON)


def _add_layer(graph: Graph, weights: Mapping[str, Array], name: str, hidden: str) -> str:
    parts = [f"{name}.attn_{part}" for part in "qkv"]
    matrix = np.concatenate([weights[f"{part}.weight"] for part in parts])
    bias = np.concatenate([weights[f"{part}.bias"] for part in parts])
    joined = _add_product(graph, f"{name}.qkv", matrix, bias, hidden)
    graph.run("Split", [joined], parts, axis=-1, num_outputs=3)
    attended = graph.run("MultiHeadAttention", parts, [f"{name}.attended"], num_heads=NUM_HEADS)
    output = _project(graph, weights, f"{name}.attn_output", attended)
    hidden = _add_and_normalize(graph, weights, f"{name}.attn_output_norm", output, hidden)
    inner = _project(graph, weights, f"{name}.ffn_up", hidden)
    active = graph.run("Gelu", [inner], [f"{name}.active"])
    output = _project(graph, weights, f"{name}.ffn_down", active)
    return _add_and_normalize(graph, weights, f"{name}.layer_output_norm", output, hidden)


def _project(graph: Graph, weights: Mapping[str, Array], name: str, values: str) -> str:
    return _add_product(graph, name, weights[f"{name}.weight"], weights[f"{name}.bias"], values)


def _add_product(graph: Graph, name: str, matrix: Array, bias: Array, values: str) -> str:
    numbers, scales = _quantize(matrix, axis=1)
    inputs = [
        values,
        graph.add_tensor(f"{name}.weight", numbers.T),
        graph.add_tensor(f"{name}.scale", scales[:, 0]),
        "",
        graph.add_tensor(f"{name}.bias", bias.astype("<f4")),
    ]
    return graph.run("DynamicQuantizeMatMul", inputs, [f"{name}.out"])


def _add_and_normalize(
    graph: Graph, weights: Mapping[str, Array], name: str, output: str, hidden: str
) -> str:
    inputs = [output, hidden, *_add_norm(graph, weights, name)]
    return graph.run("SkipLayerNormalization", inputs, [f"{name}.out"], epsilon=EPSILON)


def _add_norm(graph: Graph, weights: Mapping[str, Array], name: str) -> tuple[str, str]:
    scale = graph.add_tensor(f"{name}.weight", weights[f"{name}.weight"].astype("<f4"))
    return scale, graph.add_tensor(f"{name}.bias", weights[f"{name}.bias"].astype("<f4"))


def _quantize(matrix: Array, axis: int) -> tuple[Array, Array]:
    values = matrix.astype(np.float32)
    scales = np.maximum(np.abs(values).max(axis, keepdims=True), 1e-9) / MOST
    return np.rint(values / scales).astype("i1"), scales.astype("<f4")


def _model(graph: Graph) -> bytes:
    content = (
        b"".join(_bytes(1, node) for node in graph.nodes)
        + _text(2, "encoder")
        + b"".join(_bytes(5, tensor) for tensor in graph.tensors)
        + _bytes(11, _value(INPUT, INT64, [1, "length"]))
        + _bytes(12, _value(OUTPUT, FLOAT, [1, 384]))
    )
    opsets = [_text(1, "") + _number(2, OPSET), _text(1, CONTRIB) + _number(2, CONTRIB_OPSET)]
    return _number(1, IR_VERSION) + _bytes(7, content) + b"".join(_bytes(8, one) for one in opsets)


def _value(name: str, type: int, shape: Sequence[int | str]) -> bytes:
    sizes = [_text(2, one) if isinstance(one, str) else _number(1, one) for one in shape]
    dims = b"".join(_bytes(1, one) for one in sizes)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, type) + _bytes(2, dims)))


def _attribute(name: str, value: object) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    assert isinstance(value, int)
    return _text(1, name) + _number(3, value) + _number(20, 2)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value % (1 << 64))


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    content = bytearray()
    while value >= 128:
        content.append(value % 128 + 128)
        value >>= 7
    content.append(value)
    return bytes(content)
