"""Decodes the token strings of a tokenizer into bytes. Pure: no I/O.

There are two formats: byte-level BPE writes each byte as one letter (`Ġ` is a space),
SentencePiece writes a space as `▁` and single bytes as `<0x0A>`.
"""

import re
from collections.abc import Sequence

SINGLE_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def _byte_letters() -> dict[str, int]:
    """Printable bytes map to themselves, the others to U+0100 and up, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(0x100 + index): byte for index, byte in enumerate(others)}


BYTE_LETTERS = _byte_letters()


def decode_token_strings(token_strings: Sequence[str], text: str) -> tuple[bytes, ...] | None:
    """Returns the bytes of each token, or None if neither format adds up to `text`."""
    for decode in (_byte_level, _sentence_piece):
        pieces = decode(token_strings)
        if pieces is not None and b"".join(pieces) == text.encode():
            return pieces
    return None


def _byte_level(token_strings: Sequence[str]) -> tuple[bytes, ...] | None:
    try:
        return tuple([bytes([BYTE_LETTERS[letter] for letter in token]) for token in token_strings])
    except KeyError:
        return None


def _sentence_piece(token_strings: Sequence[str]) -> tuple[bytes, ...] | None:
    return tuple([_sentence_piece_bytes(token) for token in token_strings])


def _sentence_piece_bytes(token: str) -> bytes:
    if byte := SINGLE_BYTE.fullmatch(token):
        return bytes.fromhex(byte[1])
    return token.replace("▁", " ").encode()
