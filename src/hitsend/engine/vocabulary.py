"""A model's special tokens, read from its weights.

Some are parsed out of any text, even when the tokeniser is told not to (Qwen's `<tool_call>`
is one). Encoding has to know them by name.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hitsend.engine.gguf import Value, read_arrays

TOKENS, KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
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
    """Raises ModelBroken. Blocks: use a thread."""
    arrays = read_arrays(path, {TOKENS, KINDS})
    tokens = arrays.get(TOKENS, ())
    by_kind: dict[Value, list[str]] = {CONTROL: [], USER_DEFINED: []}
    for token, kind in zip(tokens, arrays.get(KINDS, ()), strict=False):
        if kind in by_kind:
            by_kind[kind].append(str(token))
    return Vocabulary(len(tokens), by_kind[CONTROL], by_kind[USER_DEFINED])
