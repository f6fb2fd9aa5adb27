"""The conversion from ONNX to GGUF keeps every weight unchanged."""

import math
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.engine.embedding import tiny_onnx
from tests.unit.engine.embedding.tiny_onnx import (
    INT8,
    SHAPES,
    TINY_ONNX,
    TINY_TOKENIZER,
    UINT8,
    VOCABULARY,
    floats,
    tensor,
)

from hitsend.engine.embedding.conversion import MATRICES, convert
from hitsend.engine.embedding.gguf_writer import q8_rows
from hitsend.engine.embedding.onnx import Tensor, read_graph
from hitsend.engine.models.gguf import read_arrays, read_header
from hitsend.errors import ModelBroken

names = st.text(min_size=1, max_size=20)


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    return converted(tmp_path, TINY_ONNX, TINY_TOKENIZER)


def converted(folder: Path, onnx: bytes, tokenizer: bytes) -> Path:
    (folder / "tiny.onnx").write_bytes(onnx)
    (folder / "tokenizer.json").write_bytes(tokenizer)
    convert(folder / "tiny.onnx", folder / "tokenizer.json", folder / "tiny.gguf")
    return folder / "tiny.gguf"


def test_the_file_is_valid_and_describes_the_model(gguf: Path) -> None:
    header = read_header(gguf)
    assert header.num_tensors == 5 + 2 * len(MATRICES) + 4
    assert header.quantisation == "Q8_0"
    assert header.num_window_tokens == tiny_onnx.NUM_POSITIONS
    assert header.metadata["general.architecture"] == "bert"
    assert header.metadata["bert.embedding_length"] == tiny_onnx.NUM_DIMENSIONS
    assert header.metadata["bert.feed_forward_length"] == tiny_onnx.NUM_INNER
    assert header.metadata["bert.block_count"] == 1
    assert header.metadata["bert.attention.causal"] is False


def test_the_vocabulary_is_in_llama_cpps_format(gguf: Path) -> None:
    arrays = read_arrays(gguf, ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type"))
    assert arrays["tokenizer.ggml.tokens"] == (
        *VOCABULARY[:5],
        "\u2581sun",
        "ny",
        "\u2581[",
        "\u2581ä",
    )
    assert arrays["tokenizer.ggml.token_type"] == (3, 3, 3, 3, 3, 1, 1, 1, 1)
    assert read_header(gguf).metadata["tokenizer.ggml.cls_token_id"] == VOCABULARY.index("[CLS]")


@pytest.mark.parametrize("dense", SHAPES)
def test_each_matrix_is_transposed_and_keeps_its_numbers(gguf: Path, dense: str) -> None:
    numbers, scales = tiny_onnx.matrix(dense)
    num_in, num_out = SHAPES[dense]
    blocks = b""
    for column, scale in enumerate(scales):
        row = bytes(numbers[at * num_out + column] for at in range(num_in))
        for at in range(0, num_in, 32):
            blocks += struct.pack("<e", scale) + row[at : at + 32]
    assert gguf.read_bytes().count(blocks) == 1


def test_positions_are_dequantised(gguf: Path) -> None:
    row = struct.pack("<32f", *(0.5 * number for number in range(32)))
    assert gguf.read_bytes().count(row * tiny_onnx.NUM_POSITIONS) == 1


def test_the_same_files_give_the_same_bytes(gguf: Path) -> None:
    first = gguf.read_bytes()
    assert converted(gguf.parent, TINY_ONNX, TINY_TOKENIZER).read_bytes() == first


def test_a_model_without_a_tensor_is_refused(tmp_path: Path) -> None:
    lacking = TINY_ONNX.replace(b"word_embeddings.weight_q", b"word_embeddings.weight_x")
    with pytest.raises(ModelBroken, match=r"no tensor 'inner.embeddings.word_embeddings"):
        converted(tmp_path, lacking, TINY_TOKENIZER)
    unconnected = TINY_ONNX.replace(b"MatMul", b"MatMux")
    with pytest.raises(ModelBroken, match="no MatMul of 'val_0_product'"):
        converted(tmp_path, unconnected, TINY_TOKENIZER)
    with pytest.raises(ModelBroken, match=r"tokenizer.json is not a tokenizer"):
        converted(tmp_path, TINY_ONNX, b"{}")


WORDS, LENGTH = "inner.embeddings.word_embeddings.weight", len(VOCABULARY) * 32
TOLD_ANEW = {
    "unsigned bytes": tensor(f"{WORDS}_q", (len(VOCABULARY), 32), bytes(LENGTH), UINT8),
    "too few bytes": tensor(f"{WORDS}_q", (len(VOCABULARY), 32), bytes(LENGTH - 1), INT8),
    "no rows": tensor(f"{WORDS}_q", (LENGTH,), bytes(LENGTH), INT8),
    "no whole blocks": tensor(f"{WORDS}_q", (len(VOCABULARY), 33), bytes(297), INT8),
    "other words": tensor(f"{WORDS}_q", (1, 32), bytes(32), INT8),
    "nothing at all": tensor(f"{WORDS}_q", (0, 32), b"", INT8),
    "too few scales": tensor(f"{WORDS}_scale", (1,), floats(1.0)),
    "large scales": tensor(f"{WORDS}_scale", (9,), floats(*[65_536.0] * 9)),
    "scales that are none": tensor(f"{WORDS}_scale", (9,), floats(*[math.nan] * 9)),
    "half a bias": tensor("inner.encoder.layer.0.output.dense.bias", (32,), bytes(64)),
    "a bias of rows": tensor("inner.encoder.layer.0.intermediate.dense.bias", (2, 32), bytes(256)),
}
"""Override tensors of the tiny model: the last tensor of a name counts."""


@pytest.mark.parametrize("what", TOLD_ANEW)
def test_a_model_of_another_architecture_is_refused(tmp_path: Path, what: str) -> None:
    onnx = tiny_onnx.model(*tiny_onnx.GRAPH, TOLD_ANEW[what])
    with pytest.raises(ModelBroken):
        converted(tmp_path, onnx, TINY_TOKENIZER)
    assert not (tmp_path / "tiny.gguf").exists()


@pytest.mark.parametrize("lost", [b"[CLS]", b"##ny"])
def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path, lost: bytes) -> None:
    other = TINY_TOKENIZER.replace(b'"%s":' % lost, b'"[":').replace(b'"%s"' % lost, b'"x"')
    with pytest.raises(ModelBroken, match="not that of the ONNX model"):
        converted(tmp_path, TINY_ONNX, other)


def test_a_node_is_found_by_its_input_or_its_output_only() -> None:
    nameless = tiny_onnx.node("Add", ("", "a"), "")
    graph = read_graph(tiny_onnx.model(nameless, tiny_onnx.node("Add", ("b", "c"), "d")))
    assert graph.consumer("Add", "b") == graph.producer("Add", "d") == graph.nodes[1]
    with pytest.raises(ModelBroken, match="no Add of 'b'"):
        graph.producer("Add", "b")


@given(st.binary(max_size=200))
def test_a_file_that_is_not_onnx_is_refused(content: bytes) -> None:
    with suppress(ModelBroken):
        read_graph(content)


@given(st.integers(0, len(TINY_ONNX) - 1))
def test_a_truncated_onnx_model_is_refused(num_bytes: int) -> None:
    with pytest.raises(ModelBroken):
        read_graph(TINY_ONNX[:num_bytes])


@given(names, st.lists(st.integers(0, 2**63 - 1), max_size=4), st.binary(max_size=300))
def test_any_tensor_is_read_as_it_was_written(name: str, shape: list[int], data: bytes) -> None:
    graph = read_graph(tiny_onnx.model(tiny_onnx.tensor(name, tuple(shape), data)))
    assert graph.tensors[name] == Tensor(tiny_onnx.FLOAT32, tuple(shape), memoryview(data))


@given(names, st.lists(names, max_size=4), names)
def test_any_node_is_read_as_it_was_written(kind: str, inputs: list[str], output: str) -> None:
    (node,) = read_graph(tiny_onnx.model(tiny_onnx.node(kind, inputs, output))).nodes
    assert (node.operation, node.inputs, node.outputs) == (kind, tuple(inputs), (output,))


@given(st.lists(st.integers(-128, 127), min_size=64, max_size=64), st.floats(2**-14, 100, width=16))
def test_quantised_rows_keep_their_values(numbers: list[int], scale: float) -> None:
    blocks = q8_rows([struct.pack("64b", *numbers)], [scale])
    written = list(struct.iter_unpack("<e32b", blocks))
    assert [number for _, *quants in written for number in quants] == numbers
    assert {half for half, *_ in written} == {scale}
