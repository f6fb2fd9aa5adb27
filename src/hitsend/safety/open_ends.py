"""Says from where a growing text may be the beginning of a link, a key or a number that is not
whole yet, so that nothing of it is shown before it was looked at as a whole."""

import re
from collections.abc import Callable

MAX_OPEN_CHARS = 2000
"""What is open for longer does not wait any more. A long address is a leak by its length."""
MAX_LABEL_CHARS = 1000
MAX_NUMBER_CHARS = 60

TAG_START = re.compile(
    r"<(?:[a-z!/][a-z0-9-]{0,20}\Z|(?:img|image|a|iframe|video|audio|source|link|script|form|object"
    r"|embed|input|base|svg|meta|use|track|area|button|style|picture)[\s/])",
    re.IGNORECASE,
)
IBAN_START = re.compile(
    r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{1,4}){0,9} ?\Z", re.IGNORECASE
)
NUMBER_CHARS = frozenset("0123456789 .-/()+\u00a0\u202f\u2010\u2011\u2012\u2013")
KEY_START = re.compile(r"-----BEGIN [A-Z ]{0,40}(?:PRIVATE KEY|\Z)")
KEY_END = re.compile(r"-----END [A-Z ]{0,40}-----")
DEFINITION = re.compile(r":\s{0,3}\S*\Z")


def find_open_end(text: str) -> int:
    """Returns where the open end begins: the length of the text if nothing is open."""
    start = max(0, len(text) - MAX_OPEN_CHARS)
    tail = text[start:]
    end, before = min(_find_open_word(tail), _find_open_number(tail)), len(tail) + 1
    while end < before:
        before, end = end, min(find(tail[:end]) for find in OPEN_FORMS)
    return start + end


def _find_open_word(text: str) -> int:
    """A word may grow into an address or a key. It ends at a space, or at a letter of a script that
    is written without them."""
    start = len(text)
    while start and "!" <= text[start - 1] <= "~":
        start -= 1
    return start


def _find_open_number(text: str) -> int:
    start = len(text)
    while start and text[start - 1] in NUMBER_CHARS and len(text) - start < MAX_NUMBER_CHARS:
        start -= 1
    if iban := IBAN_START.search(text, max(0, len(text) - MAX_NUMBER_CHARS)):
        return min(start, iban.start())
    digit = re.compile("(?<![0-9A-Za-z_])[(+]?[0-9]").search(text, start)
    return len(text) if digit is None else digit.start()


def _find_open_bracket(text: str) -> int:
    """A link or an image of Markdown, whose text may hold an image in its turn."""
    if "[" not in text:
        return len(text)
    open_at: list[int] = []
    closed = None
    for match in re.finditer(r"[\[\]]|\n\s*\n", text):
        if match[0] == "[":
            open_at.append(match.start())
        elif match[0] != "]":
            open_at.clear()
        elif open_at:
            closed = open_at.pop(), match.end()
    starts = [at for at in open_at if len(text) - at <= MAX_LABEL_CHARS]
    if closed and _is_open_after_label(text[closed[1] :]):
        starts.append(closed[0])
    start = min(starts, default=len(text))
    return start - (text[start - 1 : start] == "!")


def _is_open_after_label(rest: str) -> bool:
    if rest.startswith("("):
        return "\n\n" not in rest and rest.count("(") > rest.count(")")
    return not rest or DEFINITION.match(rest) is not None


def _find_open_tag(text: str) -> int:
    start = text.rfind("<")
    is_open = start >= 0 and ">" not in text[start:] and TAG_START.match(text, start)
    return start if is_open else len(text)


def _find_open_key(text: str) -> int:
    start = text.rfind("-----BEGIN")
    is_open = start >= 0 and KEY_START.match(text, start) and not KEY_END.search(text, start)
    return start if is_open else len(text)


OPEN_FORMS: tuple[Callable[[str], int], ...] = (
    _find_open_bracket,
    _find_open_tag,
    _find_open_key,
)
