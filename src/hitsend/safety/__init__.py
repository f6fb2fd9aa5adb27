"""Protects people: finds harm, secrets and personal data in texts, leaks in answers, passwords that
are easy to guess, and names that look like others. Knows no engine and no store."""

from hitsend.safety.leaks import Leak, LeakFinder, LeakKind, rewrite
from hitsend.safety.names import find_mixed_scripts
from hitsend.safety.open_ends import find_open_end
from hitsend.safety.passwords import is_easy_to_guess
from hitsend.safety.personal_data import DATA_KINDS, DataKind, FoundData, find_personal_data
from hitsend.safety.redaction import Redacted, Redaction, redact, restore
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
    "DATA_KINDS",
    "DataKind",
    "FoundData",
    "FoundSecret",
    "Leak",
    "LeakFinder",
    "LeakKind",
    "Redacted",
    "Redaction",
    "SecretKind",
    "describe_secrets",
    "find_mixed_scripts",
    "find_open_end",
    "find_personal_data",
    "find_secret",
    "find_secrets",
    "has_password",
    "is_easy_to_guess",
    "mask_secret",
    "redact",
    "remove_secrets",
    "restore",
    "rewrite",
]
