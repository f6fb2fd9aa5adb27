"""Rewrites disguised text as plain text, for classifiers that read only plain text.

It undoes Unicode tricks, base64 and hexadecimal, spaced letters, leetspeak, and words written
backwards or in rot13. Its result is scored and never shown, so offsets are not kept. Text that is
not disguised comes back as it is, apart from its Unicode.
"""

import base64
import binascii
import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Callable

MAX_CHARS = 100_000
"""Text beyond is not examined. Long texts are scored in windows anyway."""
MAX_LAYERS = 2
"""Base64 may be within base64."""

LOOK_ALIKES = str.maketrans(
    "авеёіјкмнорсѕтухԁһѵᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢαβεηικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕІЈКМНОРСЅТУХ",
    "abeeijkmhopcstyxdhvabcdefghijklmnoprstuvwyzabenikvoptuxwabezhikmnoptyxabeijkmhopcstyx",
)
"""Cyrillic and Greek letters and small capitals, by the Latin letters they look like."""
TAGS = {number: number - 0xE0000 for number in range(0xE0020, 0xE007F)}
FLAG_LETTERS = {0x1F1E6 + number: ord("a") + number for number in range(26)}
LATIN = re.compile("[A-Za-z\u1d00-\u1d7f]")
MARKS = re.compile(r"[\u0300-\u036f]{2,}")
"""Several marks on a letter. One may be an accent."""

BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_.-])(?:(?:[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{76})\n)*[A-Za-z0-9+/_-]{16,}={0,2}"
)
HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ :,]?){8,}(?![0-9A-Za-z])")
MIN_LETTERS = 0.75
"""Share of letters and spaces in decoded text."""

SPACED = re.compile(r"(?<![^\W_])[^\W\d_](?:[ ._*|/+-]{1,5}[^\W\d_]){5,}(?![^\W_])")
SEPARATORS = re.compile(r"[ ._*|/+-]+")

LEET = str.maketrans("01345789@$!|+", "oieastbgasilt")
LEET_WORD = re.compile(r"[A-Za-z013457896$!|+'][A-Za-z013457896@$!|+']+")
LEET_INSIDE = re.compile(r"[a-z][013457@$!|+]+[a-z]|^[01345$][a-z]{2}|[a-z]{2}[0134]$", re.I)
PUNCTUATION = '?!.,:;"()'
SINGLE_LETTERS = {"4": "a", "@": "a", "1": "I"}
MAX_LEET_CHARS = 30
MIN_LEET_WORDS = 2
MIN_LEET_SHARE = 0.3

COMMON_WORDS = "and are can do does for how in is it me my of that the to what with you"
COMMON = frozenset(COMMON_WORDS.split())
MIN_COMMON_WORDS = 2
MIN_COMMON_SHARE = 0.2
WORD = re.compile(r"[^\W\d_]+")


def undo_disguises(text: str) -> str:
    """Returns the text in plain letters. Takes well under a millisecond for a message."""
    rest = text[MAX_CHARS:]
    text = _use_plain_letters(text[:MAX_CHARS])
    for _ in range(MAX_LAYERS):
        text = HEX.sub(_decode_hex, BASE64.sub(_decode_base64, text))
    text = _undo_leetspeak(SPACED.sub(_join_letters, text))
    return _undo_rotation(text) + rest


def _use_plain_letters(text: str) -> str:
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text.translate(TAGS).translate(FLAG_LETTERS))
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return WORD.sub(_replace_look_alikes, MARKS.sub("", text))


def _replace_look_alikes(word: re.Match[str]) -> str:
    """Only beside Latin letters: a word in Cyrillic alone is Russian."""
    return word[0].translate(LOOK_ALIKES) if LATIN.search(word[0]) else word[0]


def _decode_base64(match: re.Match[str]) -> str:
    digits = match[0].replace("\n", "").rstrip("=").translate(str.maketrans("-_", "+/"))
    if len(digits) % 4 == 1:
        return match[0]
    return _read(base64.b64decode(digits + "=" * (-len(digits) % 4))) or match[0]


def _decode_hex(match: re.Match[str]) -> str:
    try:
        return _read(bytes.fromhex(re.sub(r"0x|\\x|[ :,]", "", match[0]))) or match[0]
    except binascii.Error:
        return match[0]


def _read(content: bytes) -> str | None:
    """Returns decoded bytes if they are text that a person wrote."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    num_letters = sum(char.isalpha() or char == " " for char in text)
    return text if text.isprintable() and num_letters >= MIN_LETTERS * len(text) else None


def _join_letters(match: re.Match[str]) -> str:
    """The most frequent separator stands between letters, any other between words."""
    separators = Counter(SEPARATORS.findall(match[0]))
    (usual, _), *_ = separators.most_common(1)
    return SEPARATORS.sub(lambda found: "" if found[0] == usual else " ", match[0])


def _undo_leetspeak(text: str) -> str:
    """Only where many words are spelled so: `mp3` and `log4j` stay."""
    words = text.split()
    num_leet = sum(map(_is_leetspeak, words))
    if num_leet < MIN_LEET_WORDS or num_leet < MIN_LEET_SHARE * len(words):
        return text
    return " ".join(map(_spell_in_letters, words))


def _is_leetspeak(word: str) -> bool:
    if word.isalpha() or len(word) > MAX_LEET_CHARS:
        return False
    body = word.strip(PUNCTUATION)
    return bool(LEET_INSIDE.search(body)) and LEET_WORD.fullmatch(body) is not None


def _spell_in_letters(word: str) -> str:
    if word in SINGLE_LETTERS:
        return SINGLE_LETTERS[word]
    body = word.rstrip(PUNCTUATION)
    if LEET_WORD.fullmatch(body) is None:
        return word
    return body.replace("11", "ll").translate(LEET) + word[len(body) :]


def _undo_rotation(text: str) -> str:
    """Tries rot13 and backwards where no common English word is found, and some are after it."""
    if not text.isascii() or _share_of_common(text) > 0:
        return text
    turns: tuple[Callable[[str], str], ...] = (_rotate, _reverse)
    return next(
        (turned for turn in turns if _share_of_common(turned := turn(text)) >= MIN_COMMON_SHARE),
        text,
    )


def _share_of_common(text: str) -> float:
    words = WORD.findall(text.lower())
    num_common = sum(word in COMMON for word in words)
    return num_common / len(words) if num_common >= MIN_COMMON_WORDS else num_common / 1e6


def _rotate(text: str) -> str:
    return codecs.encode(text, "rot13")


def _reverse(text: str) -> str:
    return text[::-1]
