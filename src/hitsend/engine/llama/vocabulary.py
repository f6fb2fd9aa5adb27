"""The special tokens of a model. Encoding must keep text from turning into one.

Some are parsed out of any text, even if the tokenizer is told not to (Qwen's `<tool_call>` is
one). So text is cut inside each of those before it is tokenized.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hitsend.engine.models.gguf import Value, read_arrays

TOKENS, KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
CONTROL, USER_DEFINED = 3, 4

LOOKS_SPECIAL = re.compile(r"(?=<[^\s<>]{1,80}>|\[/?[a-z]?[A-Z][A-Z_]+\])")
"""Matches before `<|im_start|>`, `<s>`, `</think>`, `[INST]`, `[gMASK]` and the like."""


class Vocabulary:
    def __init__(self, num_tokens: int, control: Iterable[str], user_defined: Iterable[str]):
        always_parsed = {text for text in user_defined if len(text) > 1 and not text.isspace()}
        self.num_tokens = num_tokens
        self.special = frozenset(control) | always_parsed
        self._special = _any_of(self.special)
        self._always_parsed = _any_of(always_parsed)

    def is_plain(self, text: str) -> bool:
        """Whether the text contains no special token."""
        return self._special.search(text) is None

    def cut(self, text: str) -> Iterator[str]:
        """Yields the text in pieces that contain no token that is always parsed."""
        start = 0
        for match in self._always_parsed.finditer(text):
            yield text[start : match.start() + 1]
            start = match.start() + 1
        if start < len(text):
            yield text[start:]


class GuessedVocabulary(Vocabulary):
    """For a remote model, whose special tokens are unknown: treats everything that looks like one
    as one. At worst a harmless `<div>` is tokenized unusually."""

    def __init__(self) -> None:
        super().__init__(0, (), ())
        self._special = self._always_parsed = LOOKS_SPECIAL


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Matches before each of the texts, also inside another one. Never matches if there are
    none."""
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
