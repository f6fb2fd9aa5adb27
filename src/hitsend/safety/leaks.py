"""Finds what an answer must not give away, and removes it.

That is: texts that the model was told to keep to itself, secrets and personal data that the person
does not know, and links that carry data to other hosts. `find_open_end` in open_ends.py says what
has to wait because it is not whole yet.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, TypeAlias

from hitsend.safety.exfiltration import WORD, Words, carries_data
from hitsend.safety.links import find_links, read_address
from hitsend.safety.personal_data import DataKind, find_personal_data, normalize_value
from hitsend.safety.secrets import find_secrets

LeakKind: TypeAlias = Literal["instructions", "secret", "personal_data", "link", "image"]

MARKERS: Mapping[LeakKind, str] = {
    "instructions": "[instructions removed]",
    "secret": "[secret removed]",
    "personal_data": "[personal data removed]",
    "link": "[link removed]",
    "image": "[image removed]",
}
NUM_RUN_WORDS = 12
MIN_RUN_WORDS = 8
"""A text of 8 to 11 words counts as a whole. One of fewer words is not compared."""
MAX_CACHED_TEXTS = 256
CANARY = re.compile(r"canary-[0-9a-f]{8,64}", re.IGNORECASE)
"""Whoever wants to know whether their instructions leak puts such a word into them."""
LEAKED_KINDS: tuple[DataKind, ...] = ("card", "ssn", "iban")
MAY_BE_DATA = re.compile(r"[0-9]{4}|[0-9]{2}[ .-][0-9]|-----BEGIN|://|[A-Za-z0-9_-]{20}")

EXAMPLE_NUMBERS = """
    4111111111111111 4242424242424242 4012888888881881 4000056655665556 4000000000000002
    5555555555554444 5105105105105100 5200828282828210 2223003122003222 378282246310005
    371449635398431 6011111111111117 6011000990139424 30569309025904 38520000023237
    3530111333300000 3566002020360505 6200000000000005 DE89370400440532013000
    DE91100000000123456789 GB29NWBK60161331926819 GB82WEST12345698765432 GB33BUKB20201555555555
    FR1420041010050500013M02606 FR7630006000011234567890189 NL91ABNA0417164300
    ES9121000418450200051332 IT60X0542811101000000123456 CH9300762011623852957
    AT611904300234573201 BE68539007547034 123456789 078051120 219099999"""
EXAMPLES = frozenset(EXAMPLE_NUMBERS.split())
"""Numbers that manuals print."""
EXAMPLE_KEYS = ("AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3")


class Leak(NamedTuple):
    kind: LeakKind
    start: int
    end: int


class LeakFinder:
    """Finds leaks in the answer of one turn.

    The model must not repeat `hidden`. `known` is what the person wrote: they may be told it, and
    hosts in it are trusted. `seen` is what else they may see, such as files and results of tools:
    it may be told, and addresses in it have nothing to carry, but its hosts are not trusted, for
    strangers wrote it.
    """

    def __init__(self, hidden: Sequence[str], known: str, seen: str = "") -> None:
        self._hidden = [_read_hidden(text) for text in hidden]
        self._hidden_words = Words("\n".join(hidden))
        self._known_words = Words(known)
        self._told = f"{known}\n{seen}"
        self._told_words = Words(self._told)

    def find(self, text: str, before: str = "") -> list[Leak]:
        """Returns the leaks in order and without overlaps. `before` is the end of what was shown
        already, some hundred characters: a repetition may have begun there."""
        leaks = [*self._find_repetitions(text, before), *self._find_links(text)]
        if MAY_BE_DATA.search(text):
            leaks += [*self._find_secrets(text), *self._find_personal_data(text)]
        return _join(leaks)

    def _find_repetitions(self, text: str, before: str) -> Iterator[Leak]:
        if not any(hidden.runs or hidden.canaries for hidden in self._hidden):
            return
        shown, whole = len(before), before + text
        words = [*WORD.finditer(whole)]
        lower = [word[0].lower() for word in words]
        for hidden in self._hidden:
            for start, end in hidden.find_repetitions(whole, lower, words, self._told_words):
                if end > shown:
                    yield Leak("instructions", max(0, start - shown), end - shown)

    def _find_secrets(self, text: str) -> Iterator[Leak]:
        for secret in find_secrets(text):
            value = text[secret.start : secret.end]
            is_example = value.startswith(EXAMPLE_KEYS)
            if secret.kind != "card_number" and not is_example and value not in self._told:
                yield Leak("secret", secret.start, secret.end)
        keys = {key for hidden in self._hidden for key in hidden.keys if key not in self._told}
        for key in keys:
            found = re.finditer(re.escape(key), text)
            yield from (Leak("secret", *match.span()) for match in found)

    def _find_personal_data(self, text: str) -> Iterator[Leak]:
        for one in find_personal_data(text, LEAKED_KINDS):
            value = normalize_value(one.kind, text[one.start : one.end])
            if value not in EXAMPLES and value not in self._told_characters:
                yield Leak("personal_data", one.start, one.end)

    def _find_links(self, text: str) -> Iterator[Leak]:
        for link in find_links(text):
            address = read_address(link.address)
            if address is None or link.address in self._told:
                continue
            if carries_data(address, link.is_image, self._known_words, self._hidden_words):
                yield Leak("image" if link.is_image else "link", link.start, link.end)

    @cached_property
    def _told_characters(self) -> str:
        return re.sub("[^0-9A-Z]", "", self._told.upper())


def rewrite(text: str, leaks: Iterable[Leak]) -> str:
    """Puts a marker in the place of each leak."""
    pieces, at = [], 0
    for leak in leaks:
        pieces += [text[at : leak.start], MARKERS[leak.kind]]
        at = leak.end
    return "".join([*pieces, text[at:]])


class _Hidden:
    """A text that the model must not repeat."""

    def __init__(self, text: str) -> None:
        words = WORD.findall(text.lower())
        self.num_words = min(len(words), NUM_RUN_WORDS)
        self.canaries = frozenset(CANARY.findall(text.lower()))
        self.keys = frozenset(
            text[key.start : key.end] for key in find_personal_data(text, ["key"])
        )
        self.runs = (
            frozenset(_hash_runs(words, self.num_words))
            if self.num_words >= MIN_RUN_WORDS
            else frozenset[int]()
        )

    def find_repetitions(
        self, text: str, lower: Sequence[str], words: Sequence[re.Match[str]], told: Words
    ) -> Iterator[tuple[int, int]]:
        for canary in self.canaries:
            yield from (match.span() for match in re.finditer(canary, text, re.IGNORECASE))
        if not self.runs:
            return
        num = self.num_words
        for at, run in enumerate(_hash_runs(lower, num)):
            if run in self.runs and not told.has_run_of(lower[at : at + num], num):
                yield words[at].start(), words[at + num - 1].end()


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _read_hidden(text: str) -> _Hidden:
    return _Hidden(text)


def _hash_runs(words: Sequence[str], num: int) -> Iterator[int]:
    return (hash(tuple(words[at : at + num])) for at in range(len(words) - num + 1))


def _join(leaks: Iterable[Leak]) -> list[Leak]:
    """Leaks that overlap become one, of the kind that begins first and is longest."""
    joined: list[Leak] = []
    for leak in sorted(leaks, key=lambda leak: (leak.start, -leak.end)):
        if joined and leak.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(leak.end, joined[-1].end))
        else:
            joined.append(leak)
    return joined
