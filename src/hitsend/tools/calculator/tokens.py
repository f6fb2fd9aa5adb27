"""Splits an expression into tokens, in the many ways that people and models write one."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from hitsend.errors import Refused
from hitsend.tools.calculator.functions import FUNCTIONS, OTHER_NAMES

Kind: TypeAlias = Literal["number", "name", "sign", "end"]


class Token(NamedTuple):
    kind: Kind
    text: str
    value: Fraction = Fraction(0)
    is_glued: bool = False
    """No space is in front of it."""
    is_fraction: bool = False
    """It was written as one, such as 1/2 in `1/2 cup`."""

    @property
    def word(self) -> str:
        return self.text.casefold()


END = Token("end", "")

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
VULGAR_FRACTIONS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
TO_ASCII = str.maketrans(
    dict.fromkeys("×·⋅∙∗✕✖", "*")
    | dict.fromkeys("÷∕⁄", "/")
    | dict.fromkeys("−–—﹣－", "-")
    | dict.fromkeys("′’‘", "'")
    | dict.fromkeys("″”“", '"')
    | {"√": " sqrt ", "∛": " cbrt ", "→": "->", "％": "%", "μ": "µ", "º": "°"}
)

SPELLINGS = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"^[\s=]*(?:what(?:'s| is| are)|how much is|calculate|compute|convert|evaluate)\b", ""),
        (r"[\s=?.]+$", ""),
        (r"^\s*how many (.+?) (?:are |is )?(?:there )?in (.+)$", r"\2 in \1"),
        (r"\bthe\b", " "),
        (r"\bsquare root of\b", " sqrt "),
        (r"\bcube root of\b", " cbrt "),
        (r"\bdivided by\b", "/"),
        (r"\b(?:multiplied by|times)\b", "*"),
        (r"\b(?:raised )?to\s+power of\b", "^"),
        (r"\bplus\b", "+"),
        (r"\bminus\b", "-"),
        (r"\bsquared\b", "^2"),
        (r"\bcubed\b", "^3"),
        (r"\b(?:percent|per cent|pct)\b", "%"),
        (r"\bmodulo\b", "mod"),
        (r"(?<![^\W\d_])l(?:it(?:er|re)s?)?\s*(?:/|per)\s*100\s?km\b", " L/100km "),
        (r"\bmiles per gallon\b", "mpg"),
        (r"\bper\b", "/"),
        (r"(?:°|\bdeg(?:rees?)?)\s*(?:c|celsius)\b", " degC "),
        (r"(?:°|\bdeg(?:rees?)?)\s*(?:f|fahrenheit)\b", " degF "),
        (r"\bmath\.log(?=\()", "mathlog"),
        (r"\b(?:math|np|numpy)\.", ""),
    )
]

NUMBER = r"(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
SPACED_NUMBER = r"\d{1,3}(?:[ ]\d{3})+(?![\d/])(?:\.\d+)?"
GROUPED_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?![\d,])(?:\.\d+)?"
TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<based>0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+))\b
    | (?P<mixed>\d+\s+\d+/\d+)(?![\d.,/])
    | (?P<fraction>\d+/\d+)(?=\s*[^\W\d_]|\s*[°"'])
    | (?P<spaced>{SPACED_NUMBER})
    | (?P<grouped>{GROUPED_NUMBER})
    | (?P<number>{NUMBER})
    | (?P<name>L/100km|log10|log2|[^\W\d_]+|[°"'$€£¥₹])
    | (?P<sign>\*\*|//|->|[-+*/^!%(),\[\]=<>])
    """,
    re.VERBOSE,
)
PLAIN_NUMBER = re.compile(NUMBER)
MAX_EXPONENT = 4_000


def read_tokens(text: str) -> Sequence[Token]:
    """Ends with a token of the kind `end`."""
    return [*_Reader(_normalize(text)).read(), END]


def _normalize(text: str) -> str:
    text = re.sub(f"[{SUPERSCRIPTS}]+", _write_power, text.translate(TO_ASCII))
    text = re.sub(rf"(\d*)\s?([{VULGAR_FRACTIONS}])", _write_fraction, text)
    text = unicodedata.normalize("NFKC", text)
    for pattern, replacement in SPELLINGS:
        text = pattern.sub(replacement, text)
    return text.replace("μ", "µ")


def _write_power(found: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", found[0]).replace("\u2212", "-")


def _write_fraction(found: re.Match[str]) -> str:
    fraction = Fraction(unicodedata.numeric(found[2])).limit_denominator(10)
    return f" ({int(found[1] or 0) + fraction}) "


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._last = END
        self._calls: list[bool] = []
        """Whether each open bracket is that of a call, in which commas separate numbers."""

    def read(self) -> Iterator[Token]:
        is_glued = False
        while self._at < len(self._text):
            found = TOKEN.match(self._text, self._at)
            if found is None:
                raise Refused(f"`{self._text[self._at]}` is not understood in an expression.")
            if found.lastgroup == "space":
                self._at, is_glued = found.end(), False
                continue
            token = self._make_token(found)._replace(is_glued=is_glued)
            self._at += len(token.text)
            self._track_brackets(token)
            yield token
            self._last, is_glued = token, True

    def _make_token(self, found: re.Match[str]) -> Token:
        text = found[0]
        match found.lastgroup:
            case "based":
                return Token("number", text, Fraction(int(text, 0)))
            case "mixed":
                whole, fraction = text.split(maxsplit=1)
                return Token("number", text, int(whole) + _read_fraction(fraction))
            case "fraction" if self._last.text not in ("^", "**", "/", "//", "%"):
                return Token("number", text, _read_fraction(text), is_fraction=True)
            case "spaced":
                return Token("number", text, Fraction(re.sub(r"\s", "", text)))
            case "grouped" if not any(self._calls[-1:]):
                return Token("number", text, Fraction(text.replace(",", "")))
            case "fraction" | "grouped" | "number":
                return self._make_number()
            case _:
                return Token("name" if found.lastgroup == "name" else "sign", text)

    def _make_number(self) -> Token:
        found = PLAIN_NUMBER.match(self._text, self._at)
        assert found
        text = found[0]
        if self._last.text == "," and len(text) > 1 and text[:2].isdigit() and text[0] == "0":
            raise Refused(
                f"Inside brackets a comma separates numbers, and {text} would be one of them: "
                "write 1000, not 1,000."
            )
        _, _, exponent = text.casefold().partition("e")
        if abs(int(exponent or 0)) > MAX_EXPONENT:
            raise Refused(f"{text} has more than {MAX_EXPONENT} digits.")
        return Token("number", text, Fraction(text.rstrip(".")))

    def _track_brackets(self, token: Token) -> None:
        if token.text in ("(", "["):
            is_call = OTHER_NAMES.get(self._last.word, self._last.word) in FUNCTIONS
            self._calls.append(is_call or token.text == "[")
        elif token.text in (")", "]") and self._calls:
            self._calls.pop()


def _read_fraction(text: str) -> Fraction:
    above, below = map(int, text.split("/"))
    if not below:
        raise Refused("Division by zero has no result.")
    return Fraction(above, below)
