"""Detects secrets: keys and tokens by their form, passwords by the words around them.

No prompt contains a key or token, whoever wrote it there. No memory contains a password.
"""

import re

SECRETS = {
    "a private key": r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN)[\s\S]){0,8000}?"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    "an API key of ours": r"(?<![\w-])hs-[A-Za-z0-9_-]{20,200}",
    "an API key": r"(?<![\w-])(?:"
    r"sk-[A-Za-z0-9_-]{20,200}"
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,200}"
    r"|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255}|glpat-[A-Za-z0-9_-]{20,200}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}(?![0-9A-Z])"
    r"|AIza[0-9A-Za-z_-]{35}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,250}"
    r"|hf_[A-Za-z0-9]{30,100}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,400}"
    r")",
    "a signed token": r"(?<![\w-])eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,4000}"
    r"\.[A-Za-z0-9_-]{8,1000}",
    "a password in an address": r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://"
    r"[^\s/:@]{0,100}:[^\s/@]{1,200}@(?=[\w\[])",
}
"""Patterns by name. Every repetition is bounded, so no text makes them slow."""

SECRET = re.compile(
    "|".join(f"(?P<kind_{i}>{pattern})" for i, pattern in enumerate(SECRETS.values()))
)
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


def find_secret(text: str) -> str | None:
    """Returns the name of the first secret in the text, or None."""
    if (found := SECRET.search(text)) is None:
        return None
    return list(SECRETS)[int((found.lastgroup or "").removeprefix("kind_"))]


def remove_secrets(text: str) -> str:
    return SECRET.sub(LEFT_OUT, text)


def has_password(text: str) -> bool:
    return PASSWORD.search(text) is not None
