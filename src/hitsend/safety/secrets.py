"""Detects secrets: keys, tokens and card numbers by their form, passwords by the words around them.

The page asks before it sends a message with a secret in it. It uses the same patterns: `make
generate` writes them to web/src/safety/patterns.gen.ts, and tests/secrets.json holds both to the
same result.

No prompt contains a key or token, whoever wrote it there. No memory contains a password.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

SecretKind: TypeAlias = Literal[
    "private_key", "hitsend_key", "api_key", "signed_token", "url_password", "card_number"
]

PATTERNS: Mapping[SecretKind, str] = {
    "private_key": r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN)[\s\S]){0,8000}?"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)",
    "hitsend_key": r"(?<![A-Za-z0-9_-])hs-[A-Za-z0-9_-]{20,200}",
    "api_key": r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{20,200}"
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,200}"
    r"|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255}|glpat-[A-Za-z0-9_-]{20,200}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}(?![0-9A-Z])"
    r"|AIza[0-9A-Za-z_-]{35}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,250}"
    r"|hf_[A-Za-z0-9]{30,100}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,400}"
    r"|gsk_[A-Za-z0-9]{30,80}|r8_[A-Za-z0-9]{30,50}|(?:xai|pplx)-[A-Za-z0-9]{40,120}"
    r"|SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{20,60}|whsec_[A-Za-z0-9]{24,100}"
    r"|(?:AC|SK)[0-9a-f]{32}(?![0-9A-Za-z])|key-[0-9a-f]{32}(?![0-9A-Za-z])"
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"
    r"|GOCSPX-[A-Za-z0-9_-]{20,40}|ya29\.[A-Za-z0-9_-]{20,400}"
    r"|dop_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,60}"
    r"|dapi[0-9a-f]{32}|lin_api_[A-Za-z0-9]{30,60}|ntn_[A-Za-z0-9]{40,60}"
    r"|figd_[A-Za-z0-9_-]{30,60}|glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|hv[sb]\.[A-Za-z0-9_-]{20,200}"
    r"|tskey-[a-z]{3,10}-[A-Za-z0-9-]{15,80}|dckr_pat_[A-Za-z0-9_-]{20,50}"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{58}"
    r")",
    "signed_token": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,4000}"
    r"\.[A-Za-z0-9_-]{8,1000}",
    "url_password": r"(?<![A-Za-z0-9_+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://"
    r"[^\s/:@]{0,100}:[^\s/@]{1,200}@(?=[A-Za-z0-9\[])",
    "card_number": r"(?<![0-9A-Za-z])(?<![0-9][ .,-])(?:[0-9]{13,19}"
    r"|[0-9]{4}(?: [0-9]{4}){2} [0-9]{1,7}|[0-9]{4}(?:-[0-9]{4}){2}-[0-9]{1,7}"
    r"|[0-9]{4} [0-9]{6} [0-9]{4,5}|[0-9]{4}-[0-9]{6}-[0-9]{4,5}"
    r")(?![0-9A-Za-z]|[ .,-][0-9])",
}
"""Patterns that mean the same in Python and JavaScript. Every repetition is bounded, so no text
makes them slow."""

CARD_PREFIX = (
    r"(?:4[0-9]{12}(?:[0-9]{3}){0,2}"
    r"|(?:5[1-5]|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12,14}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689])[0-9]{11,16}"
    r"|(?:6011|352[89])[0-9]{12,15}|(?:64[4-9]|35[3-8])[0-9]{13,16}|6[25][0-9]{14,17})"
)
"""The digits of a card begin as its issuer's do, and have its length."""

NAMES: Mapping[SecretKind, str] = {
    "private_key": "a private key",
    "hitsend_key": "an API key of hitsend",
    "api_key": "an API key",
    "signed_token": "a signed token",
    "url_password": "a password in an address",
    "card_number": "a card number",
}

COMPILED = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
CREDENTIALS = re.compile(
    "|".join(f"(?P<{kind}>{PATTERNS[kind]})" for kind in PATTERNS if kind != "card_number")
)
CARD = re.compile(CARD_PREFIX)
PASSWORD = re.compile(
    r"""\b (?: pass \s? (?: word | code | phrase ) | passwort | kennwort | pin | puk | cvv )
        (?: [\s-] code | \s number | -? nummer )?
        (?: \s (?: for | of | to | at | on | für | zu | zum | zur | von | vom | bei | beim )
            (?: \s [^\s:=]+ ){1,4}? )?
        (?: \s (?: is | was | ist | war | lautet | heißt ) | \s? [:=] ) \s? \S
      | \b (?: passwort | kennwort | pin ) \s \S+ \s (?: ist | lautet | heißt ) \b""",
    re.IGNORECASE | re.VERBOSE,
)
"""In English and German."""
LEFT_OUT = "[secret left out]"

MIN_DISTINCT = 8
"""A key with fewer different characters is a placeholder, such as `sk-xxxxxxxxxxxxxxxxxxxx`."""
NUM_SHOWN = 4


class FoundSecret(NamedTuple):
    kind: SecretKind
    start: int
    end: int


def find_secrets(text: str) -> list[FoundSecret]:
    """Returns the keys, tokens and card numbers in the text, in order and without overlaps."""
    found: list[FoundSecret] = []
    for secret in sorted(_find_candidates(text), key=lambda found: (found.start, -found.end)):
        if not found or secret.start >= found[-1].end:
            found.append(secret)
    return found


def mask_secret(text: str, secret: FoundSecret) -> str:
    """Returns as much of a secret as its owner needs to recognise it."""
    shown = text[secret.start : secret.end]
    if secret.kind in ("private_key", "url_password"):
        return shown.split(":", 1)[0] + "://…" if secret.kind == "url_password" else "…"
    if secret.kind == "card_number":
        return "•••• " + shown[-NUM_SHOWN:]
    return f"{shown[:NUM_SHOWN]}…{shown[-NUM_SHOWN:]}"


def describe_secrets(text: str) -> str | None:
    """Returns the names of the secrets in the text with a part of each, or None without any."""
    found = [f"{NAMES[secret.kind]} ({mask_secret(text, secret)})" for secret in find_secrets(text)]
    return ", ".join(found) or None


def find_secret(text: str) -> str | None:
    """Returns the name of the first key or token in the text, or None."""
    if (found := CREDENTIALS.search(text)) is None:
        return None
    return next(name for kind, name in NAMES.items() if found.lastgroup == kind)


def remove_secrets(text: str) -> str:
    """Removes keys and tokens."""
    return CREDENTIALS.sub(LEFT_OUT, text)


def has_password(text: str) -> bool:
    return PASSWORD.search(text) is not None


def _find_candidates(text: str) -> Iterator[FoundSecret]:
    for kind, pattern in COMPILED.items():
        for match in pattern.finditer(text):
            if _is_real(kind, match[0]):
                yield FoundSecret(kind, match.start(), match.end())


def _is_real(kind: SecretKind, text: str) -> bool:
    if kind == "card_number":
        digits = re.sub("[ -]", "", text)
        return CARD.fullmatch(digits) is not None and has_valid_check_digit(digits)
    return len(set(text)) >= MIN_DISTINCT


def has_valid_check_digit(digits: str) -> bool:
    """Whether the last digit is right by Luhn's algorithm, and the digits are not all the same."""
    total = 0
    for i, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + i % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 1
