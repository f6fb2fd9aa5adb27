"""Tokens of ours that say what their holder may do, and until when. Signed, and stored nowhere.

A pass is no way in by itself: whoever shows one has said who they are, and the pass has to be
theirs. What each kind says is its own claims' business.
"""

import base64
import binascii
import hashlib
import hmac
import time
from typing import ClassVar, TypeVar

import msgspec

from hitsend.errors import PassExpired, PassInvalid

MAX_CHARS = 2048


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass says. `kind` keeps one kind from being taken for another."""

    kind: ClassVar[str]

    user_id: str
    expires_at: float


C = TypeVar("C", bound=Claims)


def sign(secret: bytes, claims: Claims) -> str:
    body = _text(msgspec.json.encode(claims))
    return f"{body}.{_signature(secret, claims.kind, body)}"


def read(secret: bytes, kind: type[C], token: str, user_id: str) -> C:
    """Raises PassInvalid for one that is not ours, not of this kind or not theirs, and
    PassExpired for one that was."""
    body, _, signature = token.partition(".")
    expected = _signature(secret, kind.kind, body)
    if len(token) > MAX_CHARS or not hmac.compare_digest(signature.encode(), expected.encode()):
        raise PassInvalid("This token is not one of ours, or not for this.")
    try:
        claims = msgspec.json.decode(_bytes(body), type=kind)
    except (msgspec.DecodeError, binascii.Error):
        raise PassInvalid("This token is of another version of hitsend.") from None
    if claims.user_id != user_id:
        raise PassInvalid("This token is not one of ours, or not for this.")
    if claims.expires_at <= time.time():
        raise PassExpired("This token has expired. Ask for a new one.")
    return claims


def _signature(secret: bytes, kind: str, body: str) -> str:
    signed = f"{kind}.{body}".encode(errors="surrogatepass")
    return _text(hmac.digest(secret, signed, hashlib.sha256))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
