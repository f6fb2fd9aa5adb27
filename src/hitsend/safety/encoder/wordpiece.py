"""Cuts text into the tokens of an uncased BERT: words, and those into the longest known pieces."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
CONTINUATION = "##"
MAX_WORD_CHARS = 100
"""A longer word is one unknown token."""
MAX_CACHED_WORDS = 20_000
IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Each of these characters is a word of its own."""
CONTROLS = ("Cc", "Cf", "Cn", "Co", "Cs")
ASCII_CONTROLS = {
    number: None
    for number in (*range(32), 127)
    if not chr(number).isspace() or number in range(28, 32)
}


class WordPiece:
    def __init__(self, vocabulary: Sequence[str]) -> None:
        """The number of a token is its place in the vocabulary."""
        self._ids = {token: number for number, token in enumerate(vocabulary)}
        self._unknown, self._first, self._last = (
            self._ids[token] for token in (UNKNOWN, FIRST, LAST)
        )
        self._cut_word = lru_cache(MAX_CACHED_WORDS)(self._cut_word_anew)

    def encode(self, text: str, num_tokens: int) -> list[int]:
        """Returns at most so many tokens, the marks for the beginning and the end included."""
        tokens = [self._first]
        for word in _split_words(text):
            tokens += self._cut_word(word)
            if len(tokens) >= num_tokens:
                break
        return [*tokens[: num_tokens - 1], self._last]

    def _cut_word_anew(self, word: str) -> tuple[int, ...]:
        tokens, start = [], 0
        if len(word) > MAX_WORD_CHARS:
            return (self._unknown,)
        while start < len(word):
            prefix = CONTINUATION if start else ""
            for end in range(len(word), start, -1):
                if (token := self._ids.get(prefix + word[start:end])) is not None:
                    break
            else:
                return (self._unknown,)
            tokens.append(token)
            start = end
        return tuple(tokens)


def _split_words(text: str) -> Iterator[str]:
    """Lower case, without accents; punctuation and ideographs are words of their own."""
    for word in _clean(text).split():
        start = 0
        for at, char in enumerate(word):
            if _is_punctuation(char):
                if at > start:
                    yield word[start:at]
                yield char
                start = at + 1
        if start < len(word):
            yield word[start:]


def _clean(text: str) -> str:
    if text.isascii():
        return text.lower().translate(ASCII_CONTROLS)
    chars = []
    for char in text:
        if _is_ideograph(ord(char)):
            chars.append(f" {char} ")
        elif char.isspace():
            chars.append(" ")
        elif char != "\ufffd" and unicodedata.category(char) not in CONTROLS:
            chars.append(char)
    decomposed = unicodedata.normalize("NFD", "".join(chars)).lower()
    return "".join(char for char in decomposed if unicodedata.category(char) != "Mn")


def _is_ideograph(number: int) -> bool:
    return number >= 0x3400 and any(first <= number <= last for first, last in IDEOGRAPHS)


def _is_punctuation(char: str) -> bool:
    """All signs of ASCII count, such as $ and +."""
    if char.isalnum():
        return False
    return char.isascii() or unicodedata.category(char).startswith("P")
