"""What can go wrong that only a client sees, and a server's error answer as the error it was."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

from hitsend.errors import HitsendError, Refused, Unavailable
from hitsend.wire.problem import KINDS


class Lost(Unavailable):
    """The connection broke, or there was none."""

    code = "connection_lost"


class Interrupted(Unavailable):
    """The server was stopped in the middle of the answer. What was said is kept."""

    code = "interrupted"


class Garbled(HitsendError):
    """What arrived makes no sense, or is not what the server has stored."""

    code = "garbled"


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
    return kind(described.message, param=described.param, retry_after_s=retry_after_s(headers))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds, from whichever of the two headers there is. A proxy may give a date."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value) / per_second
    return _until(headers.get("retry-after", ""))


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    # Without a zone it is Greenwich's, which is what HTTP asks for.
    return max(
        0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    )
