"""Errors as JSON, {message, type, param, code}, for both APIs; and back to exceptions."""

import msgspec

from hitsend import errors
from hitsend.errors import (
    HitsendError,
    NotAllowed,
    NotFound,
    PromptTooLong,
    Refused,
    TokenExpired,
    TokenInvalid,
    TooFast,
    Unauthenticated,
    Unavailable,
    UnknownModel,
)
from hitsend.events import TurnFailed


class Problem(msgspec.Struct, frozen=True):
    """The defaults are for readers: a proxy may answer with less."""

    message: str
    type: str = ""
    param: str | None = None
    code: str = ""


class ErrorBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of an error response."""

    error: Problem
    detail: str | None = None
    """The message again, as ChatGPT's web API has it. Not on /v1."""
    request_id: str | None = None
    """For a person to quote, as it is in the log. On /v1 only the header has it."""


TYPES: tuple[tuple[type[HitsendError], str], ...] = (
    (Unauthenticated, "authentication_error"),
    (TokenExpired, "authentication_error"),
    (TokenInvalid, "authentication_error"),
    (NotAllowed, "permission_error"),
    (NotFound, "not_found_error"),
    (UnknownModel, "not_found_error"),
    (TooFast, "rate_limit_error"),
    (Refused, "invalid_request_error"),
    (Unavailable, "unavailable_error"),
    (HitsendError, "internal_error"),
)
"""The first class that matches gives the type."""


def describe_error(error: HitsendError) -> Problem:
    kind = next(name for cls, name in TYPES if isinstance(error, cls))
    return Problem(error.message, kind, error.param, error.code)


def error_from_failure(failure: TurnFailed) -> HitsendError:
    wait_ms = failure.retry_after_ms
    wait_s = None if wait_ms is None else wait_ms / 1000
    return error_from_code(failure.code, failure.message, wait_s)


def error_from_code(code: str, message: str, retry_after_s: float | None = None) -> HitsendError:
    """An unknown code gives a HitsendError, the class for bugs."""
    kind = ERROR_CLASSES.get(code, HitsendError)
    return kind(message, param=PARAMS.get(kind), retry_after_s=retry_after_s)


PARAMS: dict[type[HitsendError], str] = {PromptTooLong: "messages", UnknownModel: "model"}
"""The field that an error is about, where its class alone says so."""

ERROR_CLASSES: dict[str, type[HitsendError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, HitsendError)
}
"""Only the classes of errors.py: subclasses defined elsewhere must not change the wire."""
