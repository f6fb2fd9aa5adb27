"""Reads an ONNX file: its tensors, and the inputs and outputs of its nodes.

ONNX is protobuf. This parser reads the wire format and only the fields it needs, without generated
code and without copying tensors. It does not run the graph.
"""

import math
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from hitsend.errors import ModelBroken

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5
MAX_VARINT_BITS = 64

# Field numbers in onnx.proto.
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER = 1, 5
NODE_INPUT, NODE_OUTPUT, NODE_OPERATION = 1, 2, 4
TENSOR_DIMENSION, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW = 1, 2, 8, 9

Type: TypeAlias = Literal["float32", "int8"]
TYPES: dict[Type, tuple[int, int]] = {"float32": (1, 4), "int8": (3, 1)}
"""The type's number in onnx.proto, and the bytes of one element."""

Field: TypeAlias = int | memoryview


class Tensor(msgspec.Struct, frozen=True):
    type: int
    shape: tuple[int, ...]
    data: memoryview
    """Little endian, row-major."""

    def has_type(self, type: Type, num_axes: int | None) -> bool:
        number, num_bytes = TYPES[type]
        is_of_size = math.prod(self.shape) * num_bytes == len(self.data) > 0
        return self.type == number and is_of_size and num_axes in (None, len(self.shape))


class Node(msgspec.Struct, frozen=True):
    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Graph(msgspec.Struct, frozen=True):
    tensors: dict[str, Tensor]
    nodes: tuple[Node, ...]

    def tensor(self, name: str, type: Type, num_axes: int | None = None) -> Tensor:
        """Raises ModelBroken unless the tensor has this type and a matching size."""
        if (tensor := self.tensors.get(name)) is None:
            raise ModelBroken(f"The ONNX model has no tensor {name!r}.")
        if not tensor.has_type(type, num_axes):
            raise ModelBroken(f"The ONNX model has a tensor {name!r} of another type or size.")
        return tensor

    def consumer(self, operation: str, name: str) -> Node:
        """Returns the first node of that operation with this input and one other."""
        return _first(operation, name, (node for node in self.nodes if name in node.inputs))

    def producer(self, operation: str, name: str) -> Node:
        """Returns the first node of that operation with this output and two inputs."""
        return _first(operation, name, (node for node in self.nodes if name in node.outputs))


def read_graph(content: bytes) -> Graph:
    """Raises ModelBroken if it is not ONNX. Tensors are views into `content`."""
    tensors: dict[str, Tensor] = {}
    nodes: list[Node] = []
    for number, value in _fields(_only(memoryview(content), MODEL_GRAPH)):
        if number == GRAPH_INITIALIZER:
            name, tensor = _tensor(_view(value))
            tensors[name] = tensor
        elif number == GRAPH_NODE:
            nodes.append(_node(_view(value)))
    return Graph(tensors, tuple(nodes))


def _first(operation: str, of: str, nodes: Iterator[Node]) -> Node:
    for node in nodes:
        if node.operation == operation and len(set(node.inputs)) == 2:
            return node
    raise ModelBroken(f"The ONNX model has no {operation} of {of!r}.")


def _tensor(message: memoryview) -> tuple[str, Tensor]:
    name, type, shape, data = "", 0, [], memoryview(b"")
    for number, value in _fields(message):
        if number == TENSOR_DIMENSION:
            shape += [value] if isinstance(value, int) else list(_packed(value))
        elif number == TENSOR_TYPE and isinstance(value, int):
            type = value
        elif number == TENSOR_NAME:
            name = _text(value)
        elif number == TENSOR_RAW:
            data = _view(value)
    return name, Tensor(type, tuple(shape), data)


def _node(message: memoryview) -> Node:
    operation, inputs, outputs = "", [], []
    for number, value in _fields(message):
        if number == NODE_INPUT:
            inputs.append(_text(value))
        elif number == NODE_OUTPUT:
            outputs.append(_text(value))
        elif number == NODE_OPERATION:
            operation = _text(value)
    return Node(operation, tuple(inputs), tuple(outputs))


def _only(message: memoryview, wanted: int) -> memoryview:
    for number, value in _fields(message):
        if number == wanted:
            return _view(value)
    raise _broken("it has no graph")


def _fields(message: memoryview) -> Iterator[tuple[int, Field]]:
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, position = _varint(message, position)
            yield number, value
            continue
        if kind == BYTES:
            num_bytes, position = _varint(message, position)
        elif kind in (FIXED_32, FIXED_64):
            num_bytes = 4 if kind == FIXED_32 else 8
        else:
            raise _broken(f"a field is of an unknown kind ({kind})")
        if position + num_bytes > len(message):
            raise _broken("it ends in the middle of a field")
        yield number, message[position : position + num_bytes]
        position += num_bytes


def _packed(message: memoryview) -> Iterator[int]:
    position = 0
    while position < len(message):
        value, position = _varint(message, position)
        yield value


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, MAX_VARINT_BITS, 7):
        if position >= len(message):
            raise _broken("it ends in the middle of a number")
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise _broken("a number is too long")


def _view(value: Field) -> memoryview:
    if isinstance(value, int):
        raise _broken("a number is where a message should be")
    return value


def _text(value: Field) -> str:
    return bytes(_view(value)).decode(errors="replace")


def _broken(why: str) -> ModelBroken:
    return ModelBroken(f"The ONNX model cannot be read: {why}.")
