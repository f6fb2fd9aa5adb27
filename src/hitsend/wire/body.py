"""Decodes a JSON request body into a type. A refusal names the field that is wrong."""

import re
from typing import TypeVar

import msgspec

from hitsend.errors import Refused

T = TypeVar("T")


def decode_body(body: bytes, kind: type[T]) -> T:
    try:
        value = msgspec.json.decode(body, type=kind)
        if b"\\u0000" in body and _has_nul(msgspec.to_builtins(value)):
            raise Refused("Text may not contain the NUL character (U+0000). Remove it.")
    except msgspec.ValidationError as error:
        raise validation_refusal(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _decode_refusal(body, error) from None
    except RecursionError:
        raise Refused("The body is nested too deeply.") from None
    return value


def validation_refusal(error: msgspec.ValidationError) -> Refused:
    """Turns msgspec's message into a refusal that names the path of the field."""
    problem, _, location = str(error).partition(" - at `$")
    path = location.rstrip("`").lstrip(".")
    return Refused(f"{path}: {problem}." if path else f"{problem}.", param=path or None)


def _decode_refusal(body: bytes, error: Exception) -> Refused:
    if any(found[1] for found in SURROGATES.finditer(body)):
        return Refused("Text may not contain half a character (a lone surrogate). Remove it.")
    if isinstance(error, UnicodeDecodeError):
        return Refused("The body is not UTF-8.")
    return Refused(f"The body is not JSON: {error}.")


SURROGATES = re.compile(
    rb"\\\\"  # an escaped backslash: no escape follows it
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F])"
)
"""Escaped UTF-16 surrogates. Group 1 is a lone one."""


def _has_nul(value: object) -> bool:
    """Walks iteratively: a body may be nested deeper than Python's stack."""
    stack = [value]
    while stack:
        match stack.pop():
            case str(text) if "\0" in text:
                return True
            case list(items) | tuple(items):
                stack += items
            case dict(fields):
                stack += fields.keys()
                stack += fields.values()
    return False
