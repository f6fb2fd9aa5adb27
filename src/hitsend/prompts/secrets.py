"""What looks like a secret: no prompt says it, whoever wrote it there.

Only what is a secret by its very form is known here. A password in prose looks like prose.
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
"""By what they are called. All of it is bounded: no text makes them slow."""

SECRET = re.compile(
    "|".join(f"(?P<kind_{i}>{pattern})" for i, pattern in enumerate(SECRETS.values()))
)
LEFT_OUT = "[secret left out]"


def find_secret(text: str) -> str | None:
    """What is in it, in words; None where there is no secret."""
    if (found := SECRET.search(text)) is None:
        return None
    return list(SECRETS)[int((found.lastgroup or "").removeprefix("kind_"))]


def without_secrets(text: str) -> str:
    return SECRET.sub(LEFT_OUT, text)
