"""Whether a call says what the conversation says: small models invent numbers, dates and addresses
that nobody wrote, and copy examples from the descriptions of tools.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from hitsend.engine.tool_listing import read_parameters
from hitsend.messages import Tool

WORD = re.compile(r"[^\W_]+")
ISO_DATE = re.compile(r"\b\d{4}-\d\d-(\d\d)\b")
"""Of a date only the day is compared: months have names, and years are often left out."""
MIN_WORD_CHARS = 4
"""Shorter words say little: articles, or codes such as EUR for euros."""
STEM_CHARS = 4
"""Words that begin alike count as the same: `paint` and `painting`, `Prag` and `Prague`."""
MIN_SHARE = 0.8
"""Of the words of a call, so many have to be in the conversation."""
NUMBER_WORDS = {
    "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
    "8": "eight", "9": "nine", "10": "ten", "12": "twelve", "15": "fifteen", "20": "twenty",
    "30": "thirty", "90": "ninety", "100": "hundred",
}  # fmt: skip
KNOWN = ("today", "now")
"""Nobody has to say them."""
MAX_CHARS = 200
"""A longer argument is a text or a program, which the model composes."""


class Said:
    """What the person and the tools have said."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _folded(self) -> str:
        return "\n".join(map(fold, self._texts))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_words(self._folded))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(word[:STEM_CHARS] for word in self._words if len(word) >= STEM_CHARS)

    @cached_property
    def _numbers(self) -> frozenset[str]:
        compact = re.sub(r"(?<=\d)[,.'\u202f](?=\d{3}\b)", "", self._folded)
        numbers = (word for text in (self._folded, compact) for word in _words(text))
        return frozenset(word.lstrip("0") for word in numbers if _has_digit(word))

    def has(self, text: str) -> bool:
        return fold(text) in self._folded

    def has_word(self, word: str) -> bool:
        if _has_digit(word):
            number = word.lstrip("0")
            is_written = NUMBER_WORDS.get(number, "-") in self._words
            return is_written or bool({number, _on_twelve_hours(word)} & {"", *self._numbers})
        return word in self._words or (len(word) >= STEM_CHARS and word[:STEM_CHARS] in self._stems)


def is_grounded(tool: Tool, arguments: Mapping[str, object], said: Said) -> bool:
    """Whether all numbers of the required arguments, and most of their words, were said, and
    nothing is an example of the tool's description."""
    required = {
        one.name: arguments[one.name]
        for one in read_parameters(tool)
        if one.is_required and one.name in arguments and "enum" not in one.schema
    }
    return _are_said(tool, required.values(), said)


def _are_said(tool: Tool, values: Iterable[object], said: Said) -> bool:
    texts = list(map(_text_of, values))
    description = _describe(tool)
    if any(_has_digit(text) and _is_copied(text, description, said) for text in texts):
        return False
    words = [word for text in texts if len(text) <= MAX_CHARS for word in _telling_words(text)]
    if any(_has_digit(word) and not said.has_word(word) for word in words):
        return False
    return sum(map(said.has_word, words)) >= MIN_SHARE * len(words)


def drop_invented(tool: Tool, arguments: Mapping[str, object], said: Said) -> dict[str, object]:
    """Leaves out optional arguments that nobody said."""
    optional = {one.name for one in read_parameters(tool) if not one.is_required}
    return {
        name: value
        for name, value in arguments.items()
        if name not in optional or _are_said(tool, [value], said)
    }


def drop_copied(tool: Tool, arguments: Mapping[str, object], said: Said) -> dict[str, object]:
    """Leaves out optional arguments that are empty, or were copied from the tool's description."""
    required = {one.name for one in read_parameters(tool) if one.is_required}
    description = _describe(tool)
    return {
        name: value
        for name, value in arguments.items()
        if name in required
        or not _is_copied(value, description, said)
        or _has_said_numbers(value, said)
    }


def _describe(tool: Tool) -> str:
    return fold(f"{tool.name} {tool.description} {tool.parameters}")


def _is_copied(value: object, description: str, said: Said) -> bool:
    if value is None or value == "":
        return True
    if not isinstance(value, str) or fold(value) in KNOWN:
        return False
    return fold(value) in description and not said.has(value)


def _has_said_numbers(value: object, said: Said) -> bool:
    """Whether it says in other words what was said: 15:00 for 3 pm."""
    if not isinstance(value, str) or not _has_digit(value):
        return False
    return all(map(said.has_word, _telling_words(value)))


def fold(text: str) -> str:
    """Without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _words(text: str) -> Iterator[str]:
    return (found[0] for found in WORD.finditer(text))


def _telling_words(text: str) -> list[str]:
    words = _words(ISO_DATE.sub(r"\1", fold(text)))
    return [word for word in words if len(word) >= MIN_WORD_CHARS or _has_digit(word)]


def _on_twelve_hours(word: str) -> str:
    """18 was perhaps written as 6 pm."""
    return str(int(word) - 12) if word.isdecimal() and 12 < int(word[:4]) < 24 else word


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _text_of(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
