"""Protects people: finds secrets in texts, passwords that are easy to guess, and names that look
like others. Knows no engine and no store."""

from hitsend.safety.names import find_mixed_scripts
from hitsend.safety.passwords import is_easy_to_guess
from hitsend.safety.secrets import (
    FoundSecret,
    SecretKind,
    describe_secrets,
    find_secret,
    find_secrets,
    has_password,
    mask_secret,
    remove_secrets,
)

__all__ = [
    "FoundSecret",
    "SecretKind",
    "describe_secrets",
    "find_mixed_scripts",
    "find_secret",
    "find_secrets",
    "has_password",
    "is_easy_to_guess",
    "mask_secret",
    "remove_secrets",
]
