"""Codes for the second step of sign-in: of authenticator apps (TOTP, RFC 6238), and recovery codes.

Stores nothing. `pyotp` and `segno` are imported at their first use, not at the start.
"""

import base64
import hmac
import secrets
import time
from typing import NamedTuple

from hitsend.credentials import hash_token

STEP_S = 30
"""An authenticator app shows a new code this often."""

NUM_SECRET_BYTES = 20
"""RFC 4226 recommends this length: 32 letters and digits to type by hand."""

NUM_STEPS_OFF = 1
"""How far the clock of a phone may be off, in steps."""

NUM_RECOVERY_CODES = 10
NUM_RECOVERY_CHARS = 16
"""79 random bits: no slow hash is needed."""

RECOVERY_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without the characters that are easily confused."""


class RecoveryCodes(NamedTuple):
    shown: list[str]
    hashes: list[str]


def new_totp_secret() -> str:
    return base64.b32encode(secrets.token_bytes(NUM_SECRET_BYTES)).decode()


def draw_qr_code(secret: str, account: str, host: str) -> str:
    """Returns an image, as a `data:` address, that an authenticator app can scan. Takes some
    milliseconds."""
    import segno
    from pyotp.totp import TOTP

    uri = TOTP(secret).provisioning_uri(name=account, issuer_name=f"hitsend ({host})")
    return segno.make_qr(uri, error="m").svg_data_uri(border=3, dark="#000", light="#fff")


def find_totp_counter(secret: str, code: str) -> int | None:
    """Returns the step in time whose code this is, or None for a wrong code."""
    from pyotp.totp import TOTP

    totp, now = TOTP(secret, interval=STEP_S), int(time.time()) // STEP_S
    given = "".join(code.split()).encode(errors="surrogatepass")
    for counter in range(now - NUM_STEPS_OFF, now + NUM_STEPS_OFF + 1):
        if hmac.compare_digest(totp.at(counter * STEP_S).encode(), given):
            return counter
    return None


def new_recovery_codes() -> RecoveryCodes:
    codes = [_new_recovery_code() for _ in range(NUM_RECOVERY_CODES)]
    return RecoveryCodes(codes, [hash_recovery_code(code) for code in codes])


def hash_recovery_code(code: str) -> str:
    """Returns the same for a code typed in capitals, with spaces or without hyphens."""
    return hash_token("".join(char for char in code.lower() if char.isalnum()))


def _new_recovery_code() -> str:
    chars = "".join(secrets.choice(RECOVERY_ALPHABET) for _ in range(NUM_RECOVERY_CHARS))
    return "-".join(chars[start : start + 4] for start in range(0, NUM_RECOVERY_CHARS, 4))
