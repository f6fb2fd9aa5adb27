"""Tells whether an address carries data away.

A model that was told to can write what it knows into an address: into its query, its path, or the
name of a host; in plain words or encoded. Whoever opens the link sends the data there.
"""

import base64
import codecs
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from hitsend.safety.links import Address
from hitsend.safety.personal_data import find_personal_data

TRUSTED = re.compile(
    r"(?:[a-z-]+\.){0,2}(?:wikipedia|wikimedia|wiktionary)\.org|(?:docs\.|www\.)?python\.org|pypi\.org"
    r"|developer\.mozilla\.org|stackoverflow\.com|[a-z-]+\.stackexchange\.com|arxiv\.org"
    r"|(?:www\.)?openstreetmap\.org|(?:www\.|dx\.)?doi\.org|pubmed\.ncbi\.nlm\.nih\.gov"
    r"|(?:docs\.|doc\.)?rust-lang\.org|docs\.rs|crates\.io|(?:www\.)?npmjs\.com|nodejs\.org|go\.dev"
    r"|learn\.microsoft\.com|(?:www\.)?w3\.org|(?:www\.)?rfc-editor\.org"
)
"""These hosts show nobody else what they were asked, and send nobody on to other hosts."""

MAX_QUERY_CHARS, MAX_IMAGE_QUERY_CHARS = 200, 100
MAX_PATH_CHARS = 1000
MAX_WORD_CHARS = 64
MAX_SUBDOMAIN_CHARS = 40
MIN_HIDDEN_WORDS = 4
MIN_OWN_WORDS, MIN_OWN_WORDS_IN_PATH, MIN_OWN_WORDS_IN_IMAGE = 5, 8, 4
"""So many words in a row that the person wrote. Paths of articles have a few of them by nature."""

WORD = re.compile(r"[^\W_]+")
DISTINCTIVE = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{8,}|[0-9]{6,}")
ENCODED_LETTERS = re.compile(r"(?:%(?:25)?(?:3[0-9]|[46][1-9a-f]|[57][0-9a])){4}", re.IGNORECASE)
"""Nobody needs to write letters and digits with percent signs."""
ENCODED = re.compile(r"[A-Za-z0-9+/_-]{16,}")
LONG_WORD = re.compile(rf"[A-Za-z0-9]{{{MAX_WORD_CHARS + 1},}}")
HEX = re.compile(r"[0-9A-Fa-f]{24,}")
BASE32 = re.compile(r"[A-Za-z2-7]{24,}")
READABLE = re.compile(rb"[A-Za-z0-9 .,:;@'\"!?_=&{}+/-]{12}")
COUNTRY_SECOND_LEVEL = frozenset({"ac", "co", "com", "edu", "gov", "net", "or", "org"})


class Words:
    """The words of a text, read when they are first needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    def has_run_of(self, words: Sequence[str], num: int) -> bool:
        """Whether so many of the words stand in the text, in the same order."""
        runs = (words[at : at + num] for at in range(len(words) - num + 1))
        return any(f" {' '.join(run)} " in self._joined for run in runs)

    def has_word(self, word: str) -> bool:
        return f" {word.lower()} " in self._joined

    def has_host(self, host: str) -> bool:
        name = host.removeprefix("www.")
        if not name or name not in self._lower:
            return False
        pattern = rf"(?<![\w-])(?<![\w-]\.)(?:www\.)?{re.escape(name)}(?![\w-]|\.\w)"
        return re.search(pattern, self._lower) is not None

    @cached_property
    def _lower(self) -> str:
        return self._text.lower()

    @cached_property
    def _joined(self) -> str:
        return f" {' '.join(WORD.findall(self._lower))} "


def carries_data(address: Address, is_image: bool, own: Words, hidden: Words) -> bool:
    """Whether the address may carry data to a host that the person did not name. `own` are the
    words that the person wrote, `hidden` those that the model must not repeat."""
    if TRUSTED.fullmatch(address.host) or own.has_host(address.host):
        return False
    labels = find_subdomains(address.host)
    max_query = MAX_IMAGE_QUERY_CHARS if is_image else MAX_QUERY_CHARS
    parts = " ".join([*labels, address.path, address.query])
    return (
        len(address.query) > max_query
        or len(address.path) > MAX_PATH_CHARS
        or sum(map(len, labels)) > MAX_SUBDOMAIN_CHARS
        or ENCODED_LETTERS.search(address.written) is not None
        or LONG_WORD.search(parts) is not None
        or _has_encoded_text(parts, "".join(labels))
        or bool(find_personal_data(parts))
        or _has_words(labels, address, is_image, own, hidden)
    )


def find_subdomains(host: str) -> list[str]:
    """Returns the labels that whoever owns the domain may choose for each address."""
    labels = host.split(".")
    is_country = len(labels[-1]) == 2 and labels[-2:-1] and labels[-2] in COUNTRY_SECOND_LEVEL
    return labels[: -3 if is_country else -2]


def _has_words(
    labels: Sequence[str], address: Address, is_image: bool, own: Words, hidden: Words
) -> bool:
    query = " ".join([*labels, address.query])
    if any(own.has_word(word) for word in DISTINCTIVE.findall(query)):
        return True
    if any(
        hidden.has_run_of(words, MIN_HIDDEN_WORDS)
        for words in _read_words(f"{query} {address.path}")
    ):
        return True
    in_query = MIN_OWN_WORDS_IN_IMAGE if is_image else MIN_OWN_WORDS
    in_path = MIN_OWN_WORDS_IN_IMAGE if is_image else MIN_OWN_WORDS_IN_PATH
    return any(own.has_run_of(words, in_query) for words in _read_words(query)) or any(
        own.has_run_of(words, in_path) for words in _read_words(address.path)
    )


def _read_words(text: str) -> Iterator[list[str]]:
    """Forwards, backwards, and in rot13."""
    for turned in (text, text[::-1], codecs.encode(text, "rot13")):
        yield WORD.findall(turned.lower())


def _has_encoded_text(parts: str, label: str) -> bool:
    """Whether a part is text in base64, base32 or hexadecimal."""
    text = f"{parts} {label}"
    return any(READABLE.search(content) for content in _decode(text))


def _decode(text: str) -> Iterator[bytes]:
    for run in ENCODED.findall(text):
        digits = run.replace("-", "+").replace("_", "/")
        for start in range(4):
            whole = digits[start : start + (len(digits) - start) // 4 * 4]
            yield base64.b64decode(whole)
    for run in HEX.findall(text):
        yield from (bytes.fromhex(run[at : at + (len(run) - at) // 2 * 2]) for at in (0, 1))
    for run in BASE32.findall(text):
        yield base64.b32decode(run.upper()[: len(run) // 8 * 8])
