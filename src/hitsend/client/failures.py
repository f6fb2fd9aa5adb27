"""A server's error answer, turned back into the error it was there."""

from collections.abc import Mapping

import msgspec

from hitsend.errors import HitsendError, Refused, Unavailable
from hitsend.wire.problem import KINDS


class _Described(msgspec.Struct, frozen=True):
    message: str
    code: str | None = None
    param: str | None = None


class _Body(msgspec.Struct, frozen=True):
    error: _Described


def rebuilt(status: int, body: bytes, headers: Mapping[str, str]) -> HitsendError:
    try:
        described = msgspec.json.decode(body, type=_Body).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        described = _Described(f"The server answered {status} without saying why.")
    kind = KINDS.get(described.code or "") or (Refused if status < 500 else Unavailable)
    return kind(described.message, param=described.param, retry_after_s=_retry_after_s(headers))


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds, from whichever of the two headers there is. Dates are not understood."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value) / per_second
    return None
