"""Passwords, tokens, keys and names: how they are made, hashed and compared.

Pure apart from chance and the processor: nothing is stored here, and nobody is looked up.
"""

import asyncio
import hashlib
import hmac
import secrets
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import argon2

from hitsend.errors import Refused

MIN_PASSWORD_CHARS = 8
MAX_PASSWORD_CHARS = 256
MAX_NAME_CHARS = 64
KEY_START = "hs-"

HASHER = argon2.PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=1)

HASHING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="argon2")
"""A hash takes 64 MiB and a core for a tenth of a second. One at a time leaves the rest of
a small machine to the answers."""


async def hash_password(password: str) -> str:
    """Raises Refused for a password nobody should have."""
    checked = _checked_password(password)
    return await asyncio.get_running_loop().run_in_executor(HASHING, HASHER.hash, checked)


async def verify_password(password: str, password_hash: str | None) -> bool:
    """Takes as long for a name nobody has (None) as for one somebody has."""
    given = _normal(password) if len(password) <= MAX_PASSWORD_CHARS else b""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(HASHING, _matches, given, password_hash)


def _matches(password: bytes, password_hash: str | None) -> bool:
    try:
        HASHER.verify(password_hash or _nobodys_hash(), password)
    except argon2.exceptions.VerifyMismatchError:
        return False
    return password_hash is not None


@cache
def _nobodys_hash() -> str:
    return HASHER.hash(secrets.token_urlsafe())


def _checked_password(password: str) -> bytes:
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise Refused(
            f"A password has {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters.",
            param="password",
        )
    return _normal(password)


def _normal(password: str) -> bytes:
    """The same bytes from every keyboard: é may arrive as one character or as two."""
    return unicodedata.normalize("NFC", password).encode(errors="surrogatepass")


def clean_name(name: str) -> str:
    """The name as it is kept. Raises Refused for one that could pass for another."""
    trimmed = name.strip()
    # Measured before: marks without end on one letter take normalising without end.
    normal = unicodedata.normalize("NFC", trimmed) if len(trimmed) <= MAX_NAME_CHARS else ""
    if not 1 <= len(normal) <= MAX_NAME_CHARS:
        raise Refused(f"A name has 1 to {MAX_NAME_CHARS} characters.", param="name")
    if any(_is_invisible(char) for char in normal):
        raise Refused("A name has no control characters or invisible ones.", param="name")
    return normal


def _is_invisible(char: str) -> bool:
    """Control, direction and format marks, surrogates, line breaks, odd spaces."""
    return unicodedata.category(char)[0] in "CZ" and char != " "


def name_key(name: str) -> str:
    """What two names that read alike have in common."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded).strip()


def new_token() -> str:
    return secrets.token_urlsafe(32)


def new_key() -> str:
    return KEY_START + secrets.token_urlsafe(32)


def key_prefix(key: str) -> str:
    """Enough to tell one's keys apart, far too little to use one."""
    return key[: len(KEY_START) + 6]


def hash_token(token: str) -> str:
    """For tokens and keys of ours: 256 bits of chance need no slow hash."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def csrf_token(secret: bytes, session_id: str) -> str:
    return hmac.new(secret, session_id.encode(), hashlib.sha256).hexdigest()


def is_csrf_token(given: str, secret: bytes, session_id: str) -> bool:
    expected = csrf_token(secret, session_id)
    return hmac.compare_digest(given.encode(errors="surrogatepass"), expected.encode())
