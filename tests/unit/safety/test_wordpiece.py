"""Text becomes the tokens of BERT."""

import pytest

from hitsend.safety.encoder.wordpiece import WordPiece

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "bread",
    "##s",
    "un",
    "##bread",
    "##able",
    ",",
    "!",
    "$",
    "東",
    "京",
    "cafe",
    "i",
]


def read(text: str, num_tokens: int = 20) -> str:
    tokens = WordPiece(VOCABULARY).encode(text, num_tokens)
    return " ".join(VOCABULARY[token] for token in tokens)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ""),
        ("Bread,  BREADS!", "bread , bread ##s !"),
        ("unbreadable", "un ##bread ##able"),
        ("unbreadx", "[UNK]"),
        ("Café", "cafe"),
        ("東京bread", "東 京 bread"),
        ("$bread$", "$ bread $"),
        ("bre\u200bad\x00\tİ", "bread i"),
        ("b" * 101, "[UNK]"),
        ("[SEP] bread", "[UNK] [UNK] [UNK] bread"),
    ],
)
def test_words_are_cut_into_the_longest_pieces(text: str, tokens: str) -> None:
    assert read(text) == " ".join(f"[CLS] {tokens} [SEP]".split())


def test_a_long_text_is_cut_off_and_keeps_its_end_mark() -> None:
    assert read("bread " * 50, num_tokens=4) == "[CLS] bread bread [SEP]"
