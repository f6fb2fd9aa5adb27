"""Tokens as their tokeniser spells them, turned into the bytes they stand for. Pure.

There are two spellings: byte-level BPE writes each byte as a letter of its own (`Ġ` is a
space), SentencePiece writes a space as `▁` and bare bytes as `<0x0A>`.
"""

import re
from collections.abc import Sequence

BARE_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def _byte_letters() -> dict[str, int]:
    """Printable bytes stand for themselves; the others follow from U+0100 on, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(0x100 + place): byte for place, byte in enumerate(others)}


BYTE_LETTERS = _byte_letters()


def bytes_of(spelled: Sequence[str], text: str) -> tuple[bytes, ...] | None:
    """The bytes of each token of `text`, or None where neither spelling gives the text."""
    for read in (_byte_level, _sentence_piece):
        pieces = read(spelled)
        if pieces is not None and b"".join(pieces) == text.encode():
            return pieces
    return None


def _byte_level(spelled: Sequence[str]) -> tuple[bytes, ...] | None:
    try:
        return tuple([bytes([BYTE_LETTERS[letter] for letter in token]) for token in spelled])
    except KeyError:
        return None


def _sentence_piece(spelled: Sequence[str]) -> tuple[bytes, ...] | None:
    return tuple([_sentence_piece_bytes(token) for token in spelled])


def _sentence_piece_bytes(token: str) -> bytes:
    if bare := BARE_BYTE.fullmatch(token):
        return bytes.fromhex(bare[1])
    return token.replace("▁", " ").encode()
