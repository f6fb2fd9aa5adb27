"""Signed tokens: claims about a user, with an expiry and a purpose. The server stores none of them.

A token does not authenticate anyone: its holder has signed in by other means, and the token has to
be theirs. Each kind of token defines its own claims.
"""

import base64
import binascii
import hashlib
import hmac
import re
import time
from typing import ClassVar, TypeVar
from uuid import UUID

import msgspec

from hitsend.errors import TokenExpired, TokenInvalid

MAX_CHARS = 2048
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Claims(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """`kind` is signed too, so that a token of one kind cannot be used as another."""

    kind: ClassVar[str]

    user_id: str
    expires_at: float


C = TypeVar("C", bound=Claims)


def sign(secret: bytes, claims: Claims) -> str:
    body = _encode_base64(_pack(claims))
    return f"{body}.{_signature(secret, claims.kind, body)}"


def verify(secret: bytes, kind: type[C], token: str, user_id: str) -> C:
    """Returns the claims. Raises TokenInvalid if the token is forged, of another kind or another
    user's, and TokenExpired."""
    body, _, signature = token.partition(".")
    expected = _signature(secret, kind.kind, body)
    if len(token) > MAX_CHARS or not hmac.compare_digest(signature.encode(), expected.encode()):
        raise TokenInvalid("This token is not one of ours, or not for this.")
    try:
        claims = msgspec.convert(_unpack(_decode_base64(body)), kind)
    except (msgspec.DecodeError, msgspec.ValidationError, binascii.Error):
        raise TokenInvalid("This token is of another version of hitsend.") from None
    if claims.user_id != user_id:
        raise TokenInvalid("This token is not one of ours, or not for this.")
    if claims.expires_at <= time.time():
        raise TokenExpired("This token has expired. Ask for a new one.")
    return claims


def _signature(secret: bytes, kind: str, body: str) -> str:
    signed = f"{kind}.{body}".encode(errors="surrogatepass")
    return _encode_base64(hmac.digest(secret, signed, hashlib.sha256))


def _pack(claims: Claims) -> bytes:
    """Every answer brings two tokens, so they are short: no names of fields, and ids as bytes."""
    values = [
        UUID(value).bytes if isinstance(value, str) and ID.fullmatch(value) else value
        for value in msgspec.to_builtins(claims)
    ]
    return msgspec.msgpack.encode(values)


def _unpack(packed: bytes) -> list[object]:
    values = msgspec.msgpack.decode(packed, type=list[object])
    return [str(UUID(bytes=value)) if isinstance(value, bytes) else value for value in values]


def _encode_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode_base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
