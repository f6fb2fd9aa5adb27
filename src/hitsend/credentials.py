"""Passwords, tokens, API keys and names: making, hashing and comparing them. Stores nothing."""

import base64
import hashlib
import hmac
import secrets
import unicodedata
from functools import cache, partial

import argon2

from hitsend.errors import NameMixed, PasswordWeak, Refused
from hitsend.hash_queue import HashQueue
from hitsend.safety import find_mixed_scripts, is_easy_to_guess

MIN_PASSWORD_CHARS = 8
MAX_PASSWORD_CHARS = 256
MAX_NAME_CHARS = 64
KEY_PREFIX = "hs-"

HASHER = argon2.PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=1)

HASH_QUEUE = HashQueue()


async def hash_password(password: str, *, name: str, address: str = "") -> str:
    """Hashes a new password of the account `name`, in turns with those from other addresses. Raises
    Refused for one that is too short, too long or easy to guess."""
    checked = _check_password(password, name)
    return await HASH_QUEUE.run(address, partial(HASHER.hash, checked))


async def verify_password(password: str, password_hash: str | None, *, address: str = "") -> bool:
    """Takes the same time for an unknown user (None) as for a known one."""
    given = _normalize(password) if len(password) <= MAX_PASSWORD_CHARS else b""
    return await HASH_QUEUE.run(address, partial(_verify, given, password_hash))


def _verify(password: bytes, password_hash: str | None) -> bool:
    try:
        HASHER.verify(password_hash or _unmatched_hash(), password)
    except argon2.exceptions.VerifyMismatchError:
        return False
    return password_hash is not None


@cache
def _unmatched_hash() -> str:
    """A hash that takes as long as any other to verify, and that no password has."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(num_bytes)).decode().rstrip("=")
        for num_bytes in (HASHER.salt_len, HASHER.hash_len)
    )
    cost = f"m={HASHER.memory_cost},t={HASHER.time_cost},p={HASHER.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"


def _check_password(password: str, name: str) -> bytes:
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise Refused(
            f"A password has {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters.",
            param="password",
        )
    if is_easy_to_guess(password, name):
        raise PasswordWeak(
            "This password is easy to guess. Common words, your name, years, sequences and "
            "repetitions add little to it: make it longer, for example with a few unrelated words.",
            param="password",
        )
    return _normalize(password)


def _normalize(password: str) -> bytes:
    """Returns the same bytes from every keyboard: é may arrive as one character or as two."""
    return unicodedata.normalize("NFC", password).encode(errors="surrogatepass")


def clean_name(name: str) -> str:
    """Returns the name as stored. Raises Refused for one that could pass for another."""
    trimmed = name.strip()
    # Check the length first: normalizing thousands of marks on one letter takes quadratic time.
    normal = unicodedata.normalize("NFC", trimmed) if len(trimmed) <= MAX_NAME_CHARS else ""
    if not 1 <= len(normal) <= MAX_NAME_CHARS:
        raise Refused(f"A name has 1 to {MAX_NAME_CHARS} characters.", param="name")
    if any(_is_invisible(char) for char in normal):
        raise Refused("A name has no control characters or invisible ones.", param="name")
    if scripts := find_mixed_scripts(normal):
        raise NameMixed(
            f"This name mixes letters of {' and '.join(scripts)}, some of which look alike. "
            "Write it in one alphabet.",
            param="name",
        )
    return normal


def _is_invisible(char: str) -> bool:
    """Control, direction and format marks, surrogates, line breaks, odd spaces."""
    return unicodedata.category(char)[0] in "CZ" and char != " "


def name_key(name: str) -> str:
    """Returns the same key for names that look alike."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded).strip()


def new_token() -> str:
    return secrets.token_urlsafe(32)


def new_key() -> str:
    return KEY_PREFIX + secrets.token_urlsafe(32)


def key_prefix(key: str) -> str:
    """Enough to tell keys apart, too little to guess one."""
    return key[: len(KEY_PREFIX) + 6]


def hash_token(token: str) -> str:
    """For our own tokens and keys: 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def csrf_token(secret: bytes, session_id: str) -> str:
    return hmac.new(secret, session_id.encode(), hashlib.sha256).hexdigest()


def is_valid_csrf_token(given: str, secret: bytes, session_id: str) -> bool:
    expected = csrf_token(secret, session_id)
    return hmac.compare_digest(given.encode(errors="surrogatepass"), expected.encode())
