"""Replaces personal data by placeholders such as `[EMAIL_7F3A]`, and puts it back for its owner.

A placeholder is made of a keyed hash of the value, so the same value has the same placeholder in
all messages of a person, however it is written, and nobody without the key can guess the value.
"""

import hashlib
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec

from hitsend.safety.personal_data import (
    DATA_KINDS,
    DataKind,
    FoundData,
    find_personal_data,
    normalize_value,
)

NUM_DIGITS = 4
PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(DATA_KINDS).upper()})_[0-9A-F]{{{NUM_DIGITS},64}}\]")
MAX_PASSES = 20
"""Once a value is replaced, one beside it may be told from it, and is found in the next pass."""


class Redaction(msgspec.Struct, frozen=True):
    placeholder: str
    kind: DataKind
    value: str
    """As the person wrote it."""


class Redacted(msgspec.Struct, frozen=True):
    text: str
    redactions: tuple[Redaction, ...] = ()
    """One for each placeholder. If a value is written in several ways, one for each time it stands
    in the text, in this order."""


def redact(
    text: str,
    kinds: Collection[DataKind],
    key: bytes,
    earlier: Iterable[Redaction] = (),
) -> Redacted:
    """Replaces data of these kinds. `earlier` are redactions of the same conversation: their
    placeholders are not given to other values."""
    names = _Placeholders(key, text, earlier)
    data: list[FoundData] = []
    for _ in range(MAX_PASSES):
        redacted = _replace(text, data, names)
        found = find_personal_data(redacted.text, kinds)
        if not found:
            break
        data = _merge(data, _locate(found, data, redacted))
    return _drop_repeated(_replace(text, data, names))


def restore(text: str, redactions: Sequence[Redaction]) -> str:
    """Puts the values back. Placeholders of other texts stay as they are."""
    values = defaultdict[str, list[str]](list)
    for one in redactions:
        values[one.placeholder].append(one.value)
    num_seen = defaultdict[str, int](int)

    def put_back(match: re.Match[str]) -> str:
        if (written := values.get(match[0])) is None:
            return match[0]
        num_seen[match[0]] += 1
        return written[min(num_seen[match[0]], len(written)) - 1]

    return PLACEHOLDER.sub(put_back, text)


class _Placeholders:
    """Names values. A name that is in use, or stands in the text already, gets more digits."""

    def __init__(self, key: bytes, text: str, earlier: Iterable[Redaction]) -> None:
        self._key = hashlib.sha256(key).digest()
        self._in_text = frozenset(PLACEHOLDER.findall(text))
        self._values = {
            one.placeholder: (one.kind, normalize_value(one.kind, one.value)) for one in earlier
        }
        self._names = {value: name for name, value in self._values.items()}

    def name(self, kind: DataKind, written: str) -> str:
        value = (kind, normalize_value(kind, written))
        if (name := self._names.get(value)) is None or name in self._in_text:
            name = next(filter(self._is_free, self._candidates(*value)))
            self._values[name], self._names[value] = value, name
        return name

    def _is_free(self, name: str) -> bool:
        return name not in self._in_text and name not in self._values

    def _candidates(self, kind: DataKind, value: str) -> Iterator[str]:
        content = f"{kind} {value}".encode("utf-8", "surrogatepass")
        digits = hashlib.blake2b(content, key=self._key, digest_size=32).hexdigest().upper()
        return (f"[{kind.upper()}_{digits[:num]}]" for num in range(NUM_DIGITS, len(digits) + 1))


def _replace(text: str, data: Sequence[FoundData], names: _Placeholders) -> Redacted:
    pieces, redactions, at = [], [], 0
    for one in data:
        value = text[one.start : one.end]
        redactions.append(Redaction(names.name(one.kind, value), one.kind, value))
        pieces += [text[at : one.start], redactions[-1].placeholder]
        at = one.end
    return Redacted("".join([*pieces, text[at:]]), tuple(redactions))


def _locate(
    found: Sequence[FoundData], data: Sequence[FoundData], redacted: Redacted
) -> list[FoundData]:
    """Returns where in the original text stands what was found in the redacted one."""
    all_redactions = zip(data, redacted.redactions, strict=True)
    growth = [one.end - one.start - len(made.placeholder) for one, made in all_redactions]
    shifts = [0, *accumulate(growth)]
    ends = [one.end - shift for one, shift in zip(data, shifts[1:], strict=True)]

    def to_original(at: int) -> int:
        return at + shifts[bisect_right(ends, at)]

    return [FoundData(one.kind, to_original(one.start), to_original(one.end)) for one in found]


def _merge(data: Sequence[FoundData], new: Sequence[FoundData]) -> list[FoundData]:
    """Data within new data goes."""
    merged: list[FoundData] = []
    for one in sorted([*data, *new], key=lambda one: (one.start, -one.end)):
        if not merged or one.start >= merged[-1].end:
            merged.append(one)
    return merged


def _drop_repeated(redacted: Redacted) -> Redacted:
    """Keeps one redaction for a value that is written in one way."""
    ways = defaultdict[str, set[str]](set)
    for one in redacted.redactions:
        ways[one.placeholder].add(one.value)
    once = [one for one in redacted.redactions if len(ways[one.placeholder]) == 1]
    often = [one for one in redacted.redactions if len(ways[one.placeholder]) > 1]
    return Redacted(redacted.text, (*dict.fromkeys(once), *often))
