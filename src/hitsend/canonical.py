"""Text as it is kept, shown, counted and given to a model: one spelling, and nothing unseen.

What looks the same is written the same, and what cannot be seen does nothing: it goes, unless
it shapes what stands beside it, as in an emoji, a flag, Persian or Hindi. What turns the
direction of writing is spelled out. Who wrote the text, and what for, is not known here.
"""

import re
import unicodedata
from functools import lru_cache

NEWLINE = re.compile(r"\r\n?")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
"""Controls, and what is zero characters wide wherever it stands."""
TURNING = {
    char: f"[U+{ord(char):04X}]"
    for char in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
}
"""Text could be made to read otherwise than it is written."""

SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0000-\U000e007f\U000e0100-\U000e01ef"
SHAPING = re.compile(f"[\u200c\u200d{SELECTORS}][\u200c\u200d{SELECTORS}]*")
"""Unseen itself. Only beside what it shapes does it mean anything."""
FLAG = re.compile("(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""Spells the region of a black flag; Scotland's is one."""
JOINERS = "\u200c\u200d"
JOINING_SCRIPT = re.compile(
    "[\u0600-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
"""Arabic, Indic and others, whose letters change with their neighbours."""
MONGOLIAN = re.compile("[\u1800-\u18af]")
IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
PICTURE = re.compile("[\U0001f000-\U0001faff]")
DRAWN = "#*0123456789\u203c\u2049\u2139\u3030\u303d"
"""Not pictures by themselves; U+FE0F makes them some."""
VARIED = "0\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"

MOST_MARKS = 30
"""On one letter. No language needs as many, and ordering very many takes for ever."""
BEYOND = "\U000101fd-\U0001e94a"
"""Marks are few there, but a class with each of them is slow."""
MARKS = "".join(char for char in map(chr, range(0x300, 0xFE30)) if unicodedata.combining(char))
MANY_MARKS = re.compile(f"[{MARKS}{BEYOND}][{MARKS}{BEYOND}]{{{MOST_MARKS},}}")


def canonical(text: str) -> str:
    if text.isascii() and not CONTROL.search(text):
        return text
    text = UNSEEN.sub("", NEWLINE.sub("\n", text))
    for char, spelled in TURNING.items():
        text = text.replace(char, spelled)
    # What goes may have kept apart what belongs together.
    return _bounded(_composed(SHAPING.sub(_shaping, _composed(text))))


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", _bounded(text))


def _bounded(text: str) -> str:
    return MANY_MARKS.sub(_first_marks, text)


def _first_marks(run: re.Match[str]) -> str:
    kept, num_marks = [], 0
    for char in run[0]:
        num_marks = num_marks + 1 if unicodedata.combining(char) else 0
        if num_marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)


def _shaping(run: re.Match[str]) -> str:
    """Of a run of what shapes, that which has something to shape."""
    start, end = run.span()
    before, after = run.string[max(start - 1, 0) : start], run.string[end : end + 1]
    if end - start == 1:  # nearly always
        return run[0] if _belongs(run[0], before, after) else ""
    flag = FLAG.match(run.string, start)
    kept = flag[0] if flag else ""
    rest = run[0][len(kept) :]
    for place, char in enumerate(rest, start=1):
        if _belongs(char, kept[-1:] or before, rest[place : place + 1] or after):
            kept += char
    return kept


@lru_cache(maxsize=4096)
def _belongs(char: str, before: str, after: str) -> bool:
    if char not in JOINERS:
        return before != "" and _is_varied(before, char)
    if before in JOINERS and before:
        return False
    is_of_picture = char == "\u200d" and (_is_picture(before) or before == "\ufe0f")
    return _joins(before) or _joins(after) or (is_of_picture and _is_picture(after))


def _is_varied(before: str, selector: str) -> bool:
    """Whether there is such a variant of what stands before."""
    if selector in "\ufe0e\ufe0f":
        return before in DRAWN or _is_picture(before)
    if "\ufe00" <= selector <= "\ufe0d":
        is_letter = unicodedata.category(before) == "Lo"
        return is_letter or before in VARIED or _is_picture(before)
    if selector < "\u1810":
        return MONGOLIAN.match(before) is not None
    return selector >= "\U000e0100" and IDEOGRAPH.match(before) is not None


def _joins(char: str) -> bool:
    return JOINING_SCRIPT.match(char) is not None and unicodedata.category(char)[0] in "LM"


def _is_picture(char: str) -> bool:
    """Emoji and other symbols. Pictures newer than Python's tables are known by their place."""
    if not char or char.isascii():
        return False
    return unicodedata.category(char) in ("So", "Sm") or PICTURE.match(char) is not None
