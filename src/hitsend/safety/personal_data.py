"""Finds personal data that can be told by its form, and keys.

A checksum decides where there is one: for cards, bank accounts and tax numbers. Where the form
alone is not enough, the words around a number decide. Names, streets and dates of birth have no
form and are not found. Every repetition is bounded, so no text makes a search slow.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

from hitsend.safety.phone_numbers import SPACE, find_phone_numbers, normalize_phone_number
from hitsend.safety.secrets import CARD, MIN_DISTINCT, find_secrets, has_valid_check_digit

DataKind: TypeAlias = Literal["key", "iban", "card", "email", "ssn", "tax_id", "phone"]
DATA_KINDS: tuple[DataKind, ...] = get_args(DataKind)
"""The surest first: what one kind has found, the next does not see."""

DASH = "[\u2010-\u2013-]"
BEFORE, AFTER = "(?<![0-9A-Za-z_])", "(?![0-9A-Za-z_])"
NUM_CONTEXT_CHARS = 60
NUM_CONTEXT_CHARS_AFTER = 25

KEY_WORDS = (
    "key", "token", "secret", "password", "passwort", "kennwort", "passwd", "pwd", "passphrase",
    "credential", "bearer", "basic",
)  # fmt: skip
ASSIGNED_KEY = re.compile(
    r"(?:key|token|secret|passwor[dt]|kennwort|passwd|pwd|passphrase|credentials?)[\"'`]?"
    r"\s{0,3}(?:[:=]|=>|:=|is|ist|lautet)\s{0,3}[\"'`]?"
    r"(?P<value>[A-Za-z0-9+/_.~=-]{16,400})"
    r"|\b(?:bearer|basic)\s{1,3}(?P<header>[A-Za-z0-9+/_.~=-]{16,4000})",
    re.IGNORECASE,
)
WORDS_ONLY = re.compile(r"[A-Za-z]*(?:[_.-][A-Za-z]+)*[_.-]?[0-9]{0,4}$")
"""A name in a program, or the text of an example, such as `your-api-key-here`."""
MIN_KEY_DIGITS = 2

EMAIL = re.compile(
    r"(?<![\w@])(?<!//)[\w](?:[\w.+%&'-]{0,62}[\w+-])?@"
    r"(?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}(?P<top>[^\W\d_]{2,24}|xn--[a-z0-9-]{2,59})(?![^\W_])",
    re.IGNORECASE,
)
SPELLED_EMAIL = re.compile(
    r"(?<![\w@])[\w](?:[\w.+-]{0,63})\s?[\[({]\s?at\s?[\])}]\s?[\w-]{1,63}"
    r"(?:(?:\s?[\[({]\s?dot\s?[\])}]\s?|\.)[\w-]{1,63}){0,5}"
    r"(?:\s?[\[({]\s?dot\s?[\])}]\s?|\.)[A-Za-z]{2,24}(?![^\W_])",
    re.IGNORECASE,
)
"""`jo (at) example (dot) org`"""
FILE_ENDINGS = (
    "png jpg jpeg gif svg webp ico css js mjs tsx jsx json html htm xml yaml yml toml txt"
)
NO_DOMAINS = frozenset(FILE_ENDINGS.split())
"""`logo@2x.png` is a file."""

SSN = re.compile(
    rf"{BEFORE}(?<![0-9][ .\u2010-\u2013-])"
    rf"(?!000|666|9)[0-9]{{3}}(?P<separator>{DASH}|[ .]?)(?!00)[0-9]{{2}}"
    rf"(?P=separator)(?!0000)[0-9]{{4}}{AFTER}(?!{DASH}?[0-9])"
)
SSN_WORDS = re.compile(r"(?<!\w)(?:ssns?|social[ -]security|soc\.? sec|ss ?(?:#|no|number))", re.I)
ID_WORDS = re.compile(r"(?<!\w)(?:order|invoice|part|serial|ticket|sku|item|ref|tracking)", re.I)

CARD_SPACE = rf"(?:{SPACE}{{1,2}}|{SPACE}?{DASH}{SPACE}?|\.)"
CARD_CANDIDATE = re.compile(
    rf"{BEFORE}(?<![0-9]\.)(?=(?P<plain>[0-9]{{12,19}}){AFTER}(?!\.[0-9])"
    rf"|(?P<groups>[0-9]{{4}}(?P<space>{CARD_SPACE})[0-9]{{4}}(?P=space)[0-9]{{4}}(?P=space)"
    rf"[0-9]{{1,7}})(?P<tail>(?P=space)[0-9]{{1,3}}{AFTER})?{AFTER}"
    rf"|(?P<three>[0-9]{{4}}(?P<gap>{CARD_SPACE})[0-9]{{6}}(?P=gap)[0-9]{{4,5}}){AFTER})"
)
CARD_FORMS = ("plain", "tail", "groups", "three")
CARD_WORDS = re.compile(
    r"(?<!\w)(?:(?:credit|debit|bank)?cards?|(?:kredit|bank|ec-?|giro)?karten?\w{0,7}|visa"
    r"|master ?card|amex|american express|maestro|discover|diners|jcb|cc|carte|tarjeta"
    r"|carta|cart[ãa]o)(?!\w)",
    re.I,
)
NUM_EAN_DIGITS = 13
"""Cards of this length are old and rare, and goods have numbers of this length."""
ROW_BEFORE = re.compile(rf"[0-9]{{4}}{CARD_SPACE}$")
ROW_AFTER = re.compile(rf"{CARD_SPACE}[0-9]{{4}}{AFTER}")

IBAN_COUNTRIES: Mapping[int, str] = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
"""By the length of their account numbers."""
IBAN_LENGTHS = {
    country: length for length, countries in IBAN_COUNTRIES.items() for country in countries.split()
}
IBAN = re.compile(
    rf"{BEFORE}(?=(?P<iban>(?P<country>[A-Za-z]{{2}}){SPACE}?[0-9]{{2}}"
    rf"(?:(?:{SPACE}|{DASH})?[0-9A-Za-z]){{11,29}}))"
)

TAX_ID = re.compile(
    rf"{BEFORE}(?<![0-9][ .,-])(?<!\+)[1-9][0-9]"
    rf"(?:[0-9]{{9}}|(?:{SPACE}[0-9]{{3}}){{3}}){AFTER}(?![.,-][0-9])"
)
TAX_WORDS = re.compile(r"(?<!\w)(?:steuer\w*|idnr|tin|tax|ident(?:ifikations)?-?\w{0,9})", re.I)


class FoundData(NamedTuple):
    kind: DataKind
    start: int
    end: int


def find_personal_data(text: str, kinds: Collection[DataKind] = DATA_KINDS) -> list[FoundData]:
    """Returns what is found, in order and without overlaps."""
    found: list[FoundData] = []
    for kind in DATA_KINDS:
        if kind in kinds:
            spans = _without_overlaps(FINDERS[kind](text))
            found += [FoundData(kind, start, end) for start, end in spans]
            text = _blank(text, spans)
    return sorted(found, key=lambda one: one.start)


def normalize_value(kind: DataKind, value: str) -> str:
    """Returns the same for all the ways to write a value."""
    match kind:
        case "phone":
            return normalize_phone_number(value)
        case "email":
            spelled = re.sub(r"\s?[\[({]\s?at\s?[\])}]\s?", "@", value.casefold())
            return re.sub(r"\s?[\[({]\s?dot\s?[\])}]\s?", ".", spelled)
        case "key":
            return value
        case _:
            return re.sub("[^0-9A-Z]", "", value.upper())


Span: TypeAlias = tuple[int, int]


def _without_overlaps(spans: Iterator[Span]) -> list[Span]:
    """Of spans that overlap, the one that begins first stays, or the longest of those."""
    kept: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _blank(text: str, spans: list[Span]) -> str:
    if not spans:
        return text
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _find_keys(text: str) -> Iterator[Span]:
    yield from ((key.start, key.end) for key in find_secrets(text) if key.kind != "card_number")
    lower = text.lower()
    if not any(word in lower for word in KEY_WORDS):
        return
    for match in ASSIGNED_KEY.finditer(text):
        start, end = match.span(match.lastgroup or 0)
        end -= len(text[start:end]) - len(text[start:end].rstrip(".-"))
        if _is_random(text[start:end]):
            yield start, end


def _is_random(value: str) -> bool:
    return (
        len(value) >= 16
        and len(set(value)) >= MIN_DISTINCT
        and sum(char.isdigit() for char in value) >= MIN_KEY_DIGITS
        and any(char.isalpha() for char in value)
        and not WORDS_ONLY.match(value)
    )


def _find_ibans(text: str) -> Iterator[Span]:
    for match in IBAN.finditer(text):
        length = IBAN_LENGTHS.get(match["country"].upper(), 0)
        end = _skip_characters(text, match.start(), length)
        is_whole = end <= match.end("iban") and not text[end : end + 1].isalnum()
        if length and is_whole and _has_valid_iban_sum(text[match.start() : end]):
            yield match.start(), end


def _skip_characters(text: str, at: int, num: int) -> int:
    while num and at < len(text):
        num -= text[at].isalnum()
        at += 1
    return at


def _has_valid_iban_sum(iban: str) -> bool:
    digits = normalize_value("iban", iban)
    return int("".join(str(int(char, 36)) for char in digits[4:] + digits[:4])) % 97 == 1


def _find_cards(text: str) -> Iterator[Span]:
    for match in CARD_CANDIDATE.finditer(text):
        ends = [match.end(group) for group in CARD_FORMS if match[group]]
        yield from ((match.start(), end) for end in ends if _is_card(text, match.start(), end))


def _is_card(text: str, start: int, end: int) -> bool:
    digits = re.sub("[^0-9]", "", text[start:end])
    if not 12 <= len(digits) <= 19 or not has_valid_check_digit(digits):
        return False
    if _has_word(CARD_WORDS, text, start, end):
        return True
    is_in_row = ROW_BEFORE.search(text, max(0, start - 8), start) or ROW_AFTER.match(text, end)
    if is_in_row and end - start > len(digits):
        return False
    return len(digits) != NUM_EAN_DIGITS and CARD.fullmatch(digits) is not None


def _find_emails(text: str) -> Iterator[Span]:
    if "@" in text:
        yield from (match.span() for match in EMAIL.finditer(text) if _is_email(text, match))
    if re.search(r"[\[({]\s?at\s?[\])}]", text, re.IGNORECASE):
        yield from (match.span() for match in SPELLED_EMAIL.finditer(text))


def _is_email(text: str, match: re.Match[str]) -> bool:
    name = match[0].rpartition("@")[0]
    is_repository = name == "git" and text[match.end() : match.end() + 1] == ":"
    return match["top"].lower() not in NO_DOMAINS and not is_repository


def _find_ssns(text: str) -> Iterator[Span]:
    for match in SSN.finditer(text):
        is_named = _has_word(SSN_WORDS, text, *match.span())
        has_dashes = match["separator"] not in ("", " ", ".")
        near = max(0, match.start() - NUM_CONTEXT_CHARS_AFTER)
        if is_named or (has_dashes and not ID_WORDS.search(text, near, match.start())):
            yield match.span()


def _find_tax_ids(text: str) -> Iterator[Span]:
    """Germany's."""
    for match in TAX_ID.finditer(text):
        is_named = _has_word(TAX_WORDS, text, *match.span())
        if is_named and _is_tax_id(normalize_value("tax_id", match[0])):
            yield match.span()


def _is_tax_id(digits: str) -> bool:
    """One of the first ten digits stands there twice or three times. The last is a check digit by
    ISO 7064, MOD 11,10."""
    if sorted(map(digits[:10].count, set(digits[:10])))[-2:] not in ([1, 2], [1, 3]):
        return False
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def _has_word(words: re.Pattern[str], text: str, start: int, end: int) -> bool:
    before = words.search(text, max(0, start - NUM_CONTEXT_CHARS), start)
    return (before or words.search(text, end, end + NUM_CONTEXT_CHARS_AFTER)) is not None


def _find_phone_numbers(text: str) -> Iterator[Span]:
    yield from ((number.start, number.end) for number in find_phone_numbers(text))


FINDERS: Mapping[DataKind, Callable[[str], Iterator[Span]]] = {
    "key": _find_keys,
    "iban": _find_ibans,
    "card": _find_cards,
    "email": _find_emails,
    "ssn": _find_ssns,
    "tax_id": _find_tax_ids,
    "phone": _find_phone_numbers,
}
