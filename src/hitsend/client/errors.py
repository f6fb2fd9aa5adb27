"""Errors that only a client has, and error responses decoded to exceptions."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

from hitsend.errors import HitsendError, Refused, Unavailable
from hitsend.wire.problem import ERROR_CLASSES, ErrorBody, Problem


class Disconnected(Unavailable):
    """The connection failed or broke."""

    code = "connection_lost"


class Interrupted(Unavailable):
    """The server was stopped during the answer. The text so far is kept."""

    code = "interrupted"


class StreamInvalid(HitsendError):
    """The stream is invalid, or differs from what the server stored."""

    code = "garbled"


def error_from_response(status: int, body: bytes, headers: Mapping[str, str]) -> HitsendError:
    try:
        problem = msgspec.json.decode(body, type=ErrorBody).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        problem = Problem(f"The server answered {status} without saying why.")
    kind = ERROR_CLASSES.get(problem.code) or (Refused if status < 500 else Unavailable)
    return kind(problem.message, param=problem.param, retry_after_s=retry_after_s(headers))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Reads either header, in seconds. A proxy may send a date."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value) / per_second
    return _seconds_until(headers.get("retry-after", ""))


def _seconds_until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    # HTTP dates are GMT, also without a zone.
    return max(
        0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    )
