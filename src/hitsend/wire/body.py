"""A request body: JSON, as exactly the type it should be, or refused with its place named."""

import re
from typing import TypeVar

import msgspec

from hitsend.errors import Refused

T = TypeVar("T")


def decode(body: bytes, kind: type[T]) -> T:
    try:
        value = msgspec.json.decode(body, type=kind)
        if b"\\u0000" in body and _has_nul(msgspec.to_builtins(value)):
            raise Refused("Text may not contain the NUL character (U+0000). Remove it.")
    except msgspec.ValidationError as error:
        raise unfit(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unreadable(body, error) from None
    except RecursionError:
        raise Refused("The body is nested too deeply.") from None
    return value


def unfit(error: msgspec.ValidationError) -> Refused:
    """What msgspec says of a value that does not fit, and where it stands in the body."""
    problem, _, place = str(error).partition(" - at `$")
    path = place.rstrip("`").lstrip(".")
    return Refused(f"{path}: {problem}." if path else f"{problem}.", param=path or None)


def _unreadable(body: bytes, error: Exception) -> Refused:
    if any(found[1] for found in SURROGATES.finditer(body)):
        return Refused("Text may not contain half a character (a lone surrogate). Remove it.")
    if isinstance(error, UnicodeDecodeError):
        return Refused("The body is not UTF-8.")
    return Refused(f"The body is not JSON: {error}.")


SURROGATES = re.compile(
    rb"\\\\"  # an escaped backslash: what follows is text
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F])"
)
"""Escapes of characters in halves. Group 1 is a half without its other."""


def _has_nul(value: object) -> bool:
    """Not by recursion: a body may be nested deeper than Python's stack."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text) if "\0" in text:
                return True
            case list(items) | tuple(items):
                waiting += items
            case dict(fields):
                waiting += fields.keys()
                waiting += fields.values()
    return False
