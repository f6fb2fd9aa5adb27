"""A GGUF file is either parsed or refused with a reason."""

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.engine.models.tiny_gguf import METADATA, TINY_GGUF, build, number, tensor

from hitsend.engine.models.gguf import read_arrays, read_header
from hitsend.errors import ModelBroken


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gguf") / "some.gguf"


def test_the_header_describes_the_model(file: Path) -> None:
    file.write_bytes(TINY_GGUF)
    header = read_header(file)
    assert (header.title, header.num_window_tokens) == ("Tiny", 2048)
    assert (header.quantisation, header.can_call_tools) == ("F32", True)
    assert header.num_tensors == 1


def test_a_file_with_little_metadata_is_read(file: Path) -> None:
    file.write_bytes(build(metadata=()))
    header = read_header(file)
    assert (header.title, header.num_window_tokens, header.quantisation) == (None, None, None)


def test_a_file_truncated_anywhere_is_refused(file: Path) -> None:
    for num_bytes in range(len(TINY_GGUF)):
        file.write_bytes(TINY_GGUF[:num_bytes])
        with pytest.raises(ModelBroken, match="some.gguf cannot be used"):
            read_header(file)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"GGML" + TINY_GGUF[4:], "not a GGUF file"),
        (b"GGUF" + struct.pack("<I", 1) + TINY_GGUF[8:], "version 1 is not supported"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**63, 0), "claims .* tensors"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**40), "claims .* metadata entries"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**64 - 1), "claims .* bytes of a string"),
        (build(tensors=(tensor(offset=32),)), "32 bytes are missing"),
        (build(tensors=(tensor(num_weights=2**62),)), "bytes are missing"),
        (build(tensors=(tensor(offset=7),)), "misaligned"),
        (build(tensors=(tensor(num_weights=9, kind=2),)), "misaligned"),
        (build(tensors=(tensor(kind=4),)), "unknown type"),
        (build(tensors=(tensor(), tensor())), "twice"),
        (build(metadata=(METADATA[0], METADATA[0])), "twice"),
        (build(metadata=(number("general.alignment", 0),)), "alignment"),
        (build(metadata=(number("general.alignment", 48),)), "power of two"),
        (build(metadata=(number("split.count", 3),)), "one part of several"),
    ],
)
def test_a_hostile_file_is_refused_with_the_reason(file: Path, content: bytes, why: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ModelBroken, match=why):
        read_header(file)


def test_an_array_of_too_many_empty_strings_is_refused_at_once(file: Path) -> None:
    with file.open("wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 1))
        out.write(struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 8, 2**32))
        out.truncate(2**30)
    with pytest.raises(ModelBroken, match="items of an array"):
        read_header(file)


def test_only_the_requested_arrays_are_returned(file: Path) -> None:
    file.write_bytes(TINY_GGUF)
    assert read_arrays(file, {"tokenizer.ggml.tokens", "general.name", "none"}) == {
        "tokenizer.ggml.tokens": ("yes", "no")
    }
    assert read_arrays(file, ()) == {}


def test_a_missing_file_is_a_broken_model(tmp_path: Path) -> None:
    with pytest.raises(ModelBroken, match="cannot be read"):
        read_header(tmp_path / "none.gguf")


@settings(max_examples=300)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(TINY_GGUF) - 1), st.binary(min_size=1, max_size=9)),
        min_size=1,
        max_size=4,
    ),
    num_bytes=st.integers(0, len(TINY_GGUF)),
)
def test_a_damaged_file_is_parsed_or_refused(
    file: Path, edits: list[tuple[int, bytes]], num_bytes: int
) -> None:
    content = bytearray(TINY_GGUF)
    for position, patch in edits:
        content[position : position + len(patch)] = patch
    file.write_bytes(content[:num_bytes] if num_bytes % 2 else content)
    with suppress(ModelBroken):
        read_header(file)
    with suppress(ModelBroken):
        read_arrays(file, {"tokenizer.ggml.tokens"})
