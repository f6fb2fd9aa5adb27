"""Text from elsewhere, marked as what it is: something to know, not something to do.

What people had remembered, files, pages and the results of tools may say anything. Between the
marks they can say it, but not end them.
"""

import re
import unicodedata
from functools import lru_cache

from hitsend.canonical import canonical


def as_data(label: str, text: str) -> str:
    """Between `<label>` and `</label>`, neither of which can stand in the text itself."""
    chars = list(inside := cleaned(text))
    for found in _opening(label).finditer(_plain(inside)):
        chars[found.start()] = "("
    inside = "".join(chars)
    gap = "\n" if "\n" in inside else ""
    return f"<{label}>{gap}{inside}{gap}</{label}>"


def cleaned(text: str) -> str:
    """Canonical, with nothing at its beginning that would join what stands before."""
    text = canonical(text).strip()
    while text and unicodedata.combining(text[0]):
        text = text[1:].lstrip()
    return text


def _plain(text: str) -> str:
    """Letters and brackets in their usual form, each in its own place."""
    usual = {char: unicodedata.normalize("NFKC", char) for char in set(text)}
    return text.translate({ord(char): one for char, one in usual.items() if len(one) == 1})


@lru_cache(maxsize=64)
def _opening(label: str) -> re.Pattern[str]:
    """Also where it only looks like the mark: models are not strict about spaces and case."""
    assert LABEL.fullmatch(label)
    return re.compile(rf"[{BRACKETS}](?=\s{{0,8}}[{SLASHES}]?\s{{0,8}}{label})", re.IGNORECASE)


BRACKETS = "<\u2039\u276e\u27e8\u3008"
SLASHES = r"/\\\u2044\u2215\u29f8"
LABEL = re.compile(r"[a-z][a-z_]{0,30}")
