"""An error as both surfaces tell it: {message, type, param, code}, and back again."""

import msgspec

from hitsend import errors
from hitsend.errors import (
    HitsendError,
    NotAllowed,
    NotFound,
    PassExpired,
    PassInvalid,
    Refused,
    TooFast,
    Unauthenticated,
    Unavailable,
    UnknownModel,
)
from hitsend.events import TurnFailed


class Problem(msgspec.Struct, frozen=True):
    message: str
    type: str
    param: str | None
    code: str


TYPES: tuple[tuple[type[HitsendError], str], ...] = (
    (Unauthenticated, "authentication_error"),
    (PassExpired, "authentication_error"),
    (PassInvalid, "authentication_error"),
    (NotAllowed, "permission_error"),
    (NotFound, "not_found_error"),
    (UnknownModel, "not_found_error"),
    (TooFast, "rate_limit_error"),
    (Refused, "invalid_request_error"),
    (Unavailable, "unavailable_error"),
    (HitsendError, "internal_error"),
)
"""The first that fits is meant."""


def problem(error: HitsendError) -> Problem:
    kind = next(name for cls, name in TYPES if isinstance(error, cls))
    return Problem(error.message, kind, error.param, error.code)


def error_of(failure: TurnFailed) -> HitsendError:
    """The error a turn failed with, as it was raised."""
    wait = failure.retry_after_ms
    return rebuilt(failure.code, failure.message, None if wait is None else wait / 1000)


def rebuilt(code: str, message: str, retry_after_s: float | None = None) -> HitsendError:
    """The error behind a code. A code nobody knows is ours to mend."""
    return KINDS.get(code, HitsendError)(message, retry_after_s=retry_after_s)


KINDS: dict[str, type[HitsendError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, HitsendError)
}
"""The tree of errors.py and no other: what more a program has imported makes no difference."""
