"""Protects people: finds what should not leave a text unnoticed. Knows no engine and no store."""

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
    "find_secret",
    "find_secrets",
    "has_password",
    "mask_secret",
    "remove_secrets",
]
