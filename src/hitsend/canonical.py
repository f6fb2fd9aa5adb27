"""Canonical text: one spelling, and no invisible characters.

Text is stored, shown, counted and given to models in this form. It is NFC; invisible characters
are removed, except those that shape a neighbour (emoji, flags, Persian, Hindi); marks that change
the writing direction are spelled out as `[U+202E]`.
"""

import re
import unicodedata
from functools import lru_cache

NEWLINE = re.compile(r"\r\n?")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
"""Control characters, and characters that are always zero-width."""
DIRECTION_MARKS = {
    char: f"[U+{ord(char):04X}]"
    for char in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
}
"""They could make text read differently from how it is written."""

SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0000-\U000e007f\U000e0100-\U000e01ef"
SHAPERS = re.compile(f"[\u200c\u200d{SELECTORS}][\u200c\u200d{SELECTORS}]*")
"""Joiners and variation selectors: invisible, and meaningful only beside what they shape."""
FLAG = re.compile("(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""Tags that spell the region of a black flag, such as Scotland's."""
JOINERS = "\u200c\u200d"
JOINING_SCRIPT = re.compile(
    "[\u0600-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
"""Arabic, Indic and other scripts whose letters change with their neighbours."""
MONGOLIAN = re.compile("[\u1800-\u18af]")
IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
EMOJI = re.compile("[\U0001f000-\U0001faff]")
EMOJI_BASES = "#*0123456789\u203c\u2049\u2139\u3030\u303d"
"""Characters that U+FE0F turns into emoji."""
VARIANT_BASES = "0\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"

MAX_MARKS = 30
"""Per letter. No language needs more, and normalizing very many takes quadratic time."""
ASTRAL_MARKS = "\U000101fd-\U0001e94a"
"""The range of marks beyond U+FFFF. A range is faster than a class that lists each of them."""
MARKS = "".join(char for char in map(chr, range(0x300, 0xFE30)) if unicodedata.combining(char))
MANY_MARKS = re.compile(f"[{MARKS}{ASTRAL_MARKS}][{MARKS}{ASTRAL_MARKS}]{{{MAX_MARKS},}}")


def canonicalize(text: str) -> str:
    if text.isascii() and not CONTROL.search(text):
        return text
    text = INVISIBLE.sub("", NEWLINE.sub("\n", text))
    for char, spelled in DIRECTION_MARKS.items():
        text = text.replace(char, spelled)
    # Compose again: a removed character may have separated a letter from its mark.
    return _limit_marks(_compose(SHAPERS.sub(_keep_shapers, _compose(text))))


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", _limit_marks(text))


def _limit_marks(text: str) -> str:
    return MANY_MARKS.sub(_first_marks, text)


def _first_marks(run: re.Match[str]) -> str:
    kept, num_marks = [], 0
    for char in run[0]:
        num_marks = num_marks + 1 if unicodedata.combining(char) else 0
        if num_marks <= MAX_MARKS:
            kept.append(char)
    return "".join(kept)


def _keep_shapers(run: re.Match[str]) -> str:
    """Keeps the joiners and selectors of a run that stand beside characters they affect."""
    start, end = run.span()
    before, after = run.string[max(start - 1, 0) : start], run.string[end : end + 1]
    if end - start == 1:  # nearly always
        return run[0] if _shapes_neighbour(run[0], before, after) else ""
    flag = FLAG.match(run.string, start)
    kept = flag[0] if flag else ""
    rest = run[0][len(kept) :]
    for place, char in enumerate(rest, start=1):
        if _shapes_neighbour(char, kept[-1:] or before, rest[place : place + 1] or after):
            kept += char
    return kept


@lru_cache(maxsize=4096)
def _shapes_neighbour(char: str, before: str, after: str) -> bool:
    if char not in JOINERS:
        return before != "" and _has_variant(before, char)
    if before in JOINERS and before:
        return False
    is_of_picture = char == "\u200d" and (_is_emoji(before) or before == "\ufe0f")
    return (
        _is_joining_letter(before)
        or _is_joining_letter(after)
        or (is_of_picture and _is_emoji(after))
    )


def _has_variant(before: str, selector: str) -> bool:
    """Whether the selector picks a variant of the character before it."""
    if selector in "\ufe0e\ufe0f":
        return before in EMOJI_BASES or _is_emoji(before)
    if "\ufe00" <= selector <= "\ufe0d":
        is_letter = unicodedata.category(before) == "Lo"
        return is_letter or before in VARIANT_BASES or _is_emoji(before)
    if selector < "\u1810":
        return MONGOLIAN.match(before) is not None
    return selector >= "\U000e0100" and IDEOGRAPH.match(before) is not None


def _is_joining_letter(char: str) -> bool:
    return JOINING_SCRIPT.match(char) is not None and unicodedata.category(char)[0] in "LM"


def _is_emoji(char: str) -> bool:
    """Emoji and other symbols. Emoji newer than Python's tables are recognised by their block."""
    if not char or char.isascii():
        return False
    return unicodedata.category(char) in ("So", "Sm") or EMOJI.match(char) is not None
