"""Special tokens of a model whose vocabulary is not known: whatever looks like one.

A server elsewhere does not tell its special tokens. Text is cut inside everything that could
be one, so that no piece holds a whole one; at worst a harmless `<div>` is split unusually.
"""

import re
from collections.abc import Iterator

from hitsend.engine.vocabulary import Vocabulary

LOOK_ALIKE = re.compile(r"(?=<[^\s<>]{1,80}>|\[/?[a-z]?[A-Z][A-Z_]+\])")
"""`<|im_start|>`, `<s>`, `</think>`, `[INST]`, `[gMASK]`: where one begins."""


class LookAlikes(Vocabulary):
    def __init__(self) -> None:
        super().__init__(0, (), ())

    def is_plain(self, text: str) -> bool:
        return LOOK_ALIKE.search(text) is None

    def cut(self, text: str) -> Iterator[str]:
        start = 0
        for match in LOOK_ALIKE.finditer(text):
            yield text[start : match.start() + 1]
            start = match.start() + 1
        if start < len(text):
            yield text[start:]
