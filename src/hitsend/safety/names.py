"""Finds names that mix alphabets: `pаypal` with a Cyrillic `а` looks like another name.

As in Unicode's "Highly Restrictive" profile (UTS 39), a name is in one script, or in scripts that
are written together, such as the three of Japanese. Latin may stand beside those, because no letter
of theirs looks like it. Digits, marks and signs belong to every script.

Python has no table of scripts. The name of a letter begins with its script.
"""

import unicodedata
from collections.abc import Set

WRITTEN_TOGETHER: tuple[Set[str], ...] = (
    {"Latin", "Han", "Hiragana", "Katakana"},
    {"Latin", "Han", "Bopomofo"},
    {"Latin", "Han", "Hangul"},
)
HAN = ("CJK", "IDEOGRAPHIC")
COMMON = ("MODIFIER", "KATAKANA-HIRAGANA")
"""Letters that several scripts use, such as the apostrophe of Hawaiian names and the long vowel
mark of Japanese."""


def find_mixed_scripts(name: str) -> tuple[str, ...]:
    """Returns the scripts of a name that mixes some that are not written together, else ()."""
    scripts = {script for char in unicodedata.normalize("NFKC", name) if (script := _script(char))}
    if len(scripts) < 2 or any(scripts <= together for together in WRITTEN_TOGETHER):
        return ()
    return tuple(sorted(scripts))


def _script(letter: str) -> str:
    """Returns "" for what belongs to every script."""
    if unicodedata.category(letter)[0] != "L":
        return ""
    first = unicodedata.name(letter, "").partition(" ")[0]
    if first in HAN:
        return "Han"
    return "" if first in COMMON else first.capitalize()
