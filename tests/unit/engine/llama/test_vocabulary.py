"""Special tokens are read from the weights, and text is cut inside them."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.llama.vocabulary import Vocabulary, read_vocabulary
from hitsend.errors import ModelBroken

VOCABULARY = Vocabulary(9, ["<s>"], ["<a>", "<a><b>", "aa", "\n\n", "x"])


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf() -> bytes:
    tokens = ["<s>", "word", "<tool>", "é"]
    entries = [
        string("general.name") + struct.pack("<I", 8) + string("Tiny"),
        string("numbers") + struct.pack("<IIQ", 9, 4, 2) + struct.pack("<II", 1, 2),
        string("nested") + struct.pack("<IIQ", 9, 8, 1) + string("skipped"),
        string("tokenizer.ggml.tokens")
        + struct.pack("<IIQ", 9, 8, len(tokens))
        + b"".join(map(string, tokens)),
        string("tokenizer.ggml.token_type")
        + struct.pack("<IIQ", 9, 5, len(tokens))
        + struct.pack("<4i", 3, 1, 4, 1),
        string("flag") + struct.pack("<I?", 7, True),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def test_special_tokens_are_read_from_the_weights(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf())
    vocabulary = read_vocabulary(path)
    assert vocabulary.special == {"<s>", "<tool>"}
    assert vocabulary.num_tokens == 4
    assert list(vocabulary.cut("a <tool> <s>")) == ["a <", "tool> <s>"]


def test_a_truncated_vocabulary_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "short.gguf"
    path.write_bytes(gguf()[:-40])
    with pytest.raises(ModelBroken, match="short.gguf"):
        read_vocabulary(path)


def test_a_vocabulary_that_claims_too_many_tokens_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "endless.gguf"
    tokens = string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2**40)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + tokens)
    with pytest.raises(ModelBroken, match=r"endless.gguf .* items of an array"):
        read_vocabulary(path)


def test_weights_without_a_vocabulary_have_no_special_tokens(tmp_path: Path) -> None:
    path = tmp_path / "bare.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    vocabulary = read_vocabulary(path)
    assert vocabulary.num_tokens == 0
    assert not vocabulary.special


@pytest.mark.parametrize(
    ("text", "is_plain"), [("hello", True), ("<s", True), ("a <s> b", False), ("<a>", False)]
)
def test_plain_text_contains_no_special_token(text: str, is_plain: bool) -> None:
    assert VOCABULARY.is_plain(text) is is_plain


@given(st.text("<ab>s\nx", max_size=30))
def test_no_piece_contains_a_token_that_is_always_parsed(text: str) -> None:
    pieces = list(VOCABULARY.cut(text))
    assert "".join(pieces) == text
    assert not any(token in piece for piece in pieces for token in ("<a>", "<a><b>", "aa"))


def test_a_text_without_such_tokens_is_one_piece() -> None:
    assert list(VOCABULARY.cut("plain <s> text\n\n")) == ["plain <s> text\n\n"]
