"""Log lines: text or JSON, each with the time, level, and the ids of its request and its turn.

A line contains nothing that people wrote and no secret. Modules log ids, names and codes; the
formatters leave out what may quote more than that: the message of an exception (its type and its
traceback stay), and all but the first line of what a library logs.
"""

import errno
import logging
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

import msgspec

LogFormat: TypeAlias = Literal["text", "json"]

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
TURN_ID: ContextVar[str] = ContextVar("turn_id", default="")
TURN_TRACE_ID: ContextVar[str] = ContextVar("turn_trace_id", default="")
"""Tasks inherit all three from the task that starts them."""


@contextmanager
def turn_in_log(turn_id: str) -> Iterator[None]:
    """For what is done for a turn outside its own task."""
    before = TURN_ID.set(turn_id)
    try:
        yield
    finally:
        TURN_ID.reset(before)


def configure_logs(level: str, log_format: LogFormat) -> None:
    """Logs to stderr. Libraries log warnings only: at lower levels some log what users wrote."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("hitsend").setLevel(level.upper())
    sys.unraisablehook = _log_unraisable


class TextFormatter(logging.Formatter):
    """`2026-11-19T09:30:00.000Z INFO message request=… turn=…`, and below it a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        ids = "".join(f" {name}={value}" for name, value in _ids() if value)
        line = f"{_time(record)} {record.levelname} {_one_line(_message(record))}{ids}"
        return f"{line}\n{error}" if (error := _error(record)) else line


class JsonFormatter(logging.Formatter):
    """One object per line, a traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        fields |= {f"{name}_id": value for name, value in _ids() if value}
        facts: Mapping[str, object] = getattr(record, "facts", {})
        fields |= facts
        if error := _error(record):
            fields["error"] = error
        return msgspec.json.encode(fields).decode()


def format_error(error: BaseException) -> str:
    """Formats the error, its causes and their tracebacks, without their messages: those may quote
    what a person wrote."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = f"{format_error(cause)}\n\n" if cause else ""
    group = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    inner = "".join(f"\n\nOne of them:\n{format_error(one)}" for one in group)
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{before}{frames}{_describe_type(error)}{inner}"


def _describe_type(error: BaseException) -> str:
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    code = errno.errorcode.get(error.errno or 0) if isinstance(error, OSError) else None
    return f"{name} [{code}]" if code else name


def _message(record: logging.LogRecord) -> str:
    message = record.getMessage()
    if record.name.startswith("hitsend"):
        return message
    # asyncio's further lines show tasks and their exceptions with all that is in them.
    return message.strip().partition("\n")[0]


def _error(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return format_error(error) if error else ""


def _one_line(message: str) -> str:
    """Escapes line ends, so that no text can add a line that looks like one of ours."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in message)


def _ids() -> tuple[tuple[str, str], ...]:
    return (
        ("request", REQUEST_ID.get()),
        ("turn", TURN_ID.get()),
        ("turn_trace", TURN_TRACE_ID.get()),
    )


def _time(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03}Z"


def _log_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    """Python's own hook would print the exception's message."""
    error = unraisable.exc_value
    exc_info = (type(error), error, unraisable.exc_traceback) if error else None
    logging.getLogger(__name__).error("an exception that could not be raised", exc_info=exc_info)
