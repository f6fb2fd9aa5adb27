"""A model's special tokens, read from its weights.

Some are parsed out of any text, even when the tokeniser is told not to (Qwen's `<tool_call>`
is one). Encoding has to know them by name. It reads files that were checked before.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path

import msgspec

from hitsend.errors import ModelBroken

STRING, ARRAY = 8, 9
NUM_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
CONTROL, USER_DEFINED = 3, 4


class Vocabulary:
    """What text must never turn into. Hashing or counting tokens is not its business."""

    def __init__(self, num_tokens: int, control: Iterable[str], user_defined: Iterable[str]):
        always_parsed = {text for text in user_defined if len(text) > 1 and not text.isspace()}
        self.num_tokens = num_tokens
        self.special = frozenset(control) | always_parsed
        self._special = _any_of(self.special)
        self._always_parsed = _any_of(always_parsed)

    def is_plain(self, text: str) -> bool:
        """Nothing in it could be taken for a special token."""
        return self._special.search(text) is None

    def cut(self, text: str) -> Iterator[str]:
        """The text in pieces, none of which holds a token that is always parsed."""
        start = 0
        for match in self._always_parsed.finditer(text):
            yield text[start : match.start() + 1]
            start = match.start() + 1
        if start < len(text):
            yield text[start:]


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Where any of them starts, also inside another. Of none, nothing matches."""
    choices = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    return re.compile(f"(?=(?:{choices}))" if choices else r"(?!)")


def read_vocabulary(path: Path) -> Vocabulary:
    """Blocks: use a thread."""
    try:
        with path.open("rb") as file:
            found = _Metadata(file).arrays({"tokenizer.ggml.tokens", "tokenizer.ggml.token_type"})
    except (OSError, struct.error, KeyError) as error:
        raise ModelBroken(f"The vocabulary in {path.name} cannot be read: {error}.") from error
    tokens = found.get("tokenizer.ggml.tokens", _Items()).strings
    kinds = found.get("tokenizer.ggml.token_type", _Items()).int32s
    by_kind: dict[int, list[str]] = {CONTROL: [], USER_DEFINED: []}
    for token, kind in zip(tokens, kinds, strict=False):
        if kind in by_kind:
            by_kind[kind].append(token.decode(errors="replace"))
    return Vocabulary(len(tokens), by_kind[CONTROL], by_kind[USER_DEFINED])


class _Items(msgspec.Struct, frozen=True):
    strings: list[bytes] = []
    int32s: tuple[int, ...] = ()


class _Metadata:
    """The key-value part of a GGUF file, of which only some arrays are wanted."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file

    def arrays(self, wanted: set[str]) -> dict[str, _Items]:
        self._file.seek(16)
        found = {}
        for _ in range(self._number("<Q")):
            key, kind = self._string().decode(errors="replace"), self._number("<I")
            if kind == ARRAY and key in wanted:
                found[key] = self._items()
            else:
                self._skip(kind)
        return found

    def _items(self) -> _Items:
        kind, num_items = self._number("<I"), self._number("<Q")
        if kind == STRING:
            return _Items(strings=[self._string() for _ in range(num_items)])
        return _Items(int32s=struct.unpack(f"<{num_items}i", self._file.read(4 * num_items)))

    def _skip(self, kind: int) -> None:
        if kind == STRING:
            self._string()
        elif kind == ARRAY:
            kind, num_items = self._number("<I"), self._number("<Q")
            if kind in NUM_BYTES:
                self._file.seek(NUM_BYTES[kind] * num_items, 1)
            else:
                for _ in range(num_items):
                    self._skip(kind)
        else:
            self._file.seek(NUM_BYTES[kind], 1)

    def _string(self) -> bytes:
        return self._file.read(self._number("<Q"))

    def _number(self, kind: str) -> int:
        number: int = struct.unpack(kind, self._file.read(struct.calcsize(kind)))[0]
        return number
