"""Translates the error responses of engine servers into hitsend's errors.

The one place that knows how different servers word the same error. People see our own words: a
server's may contain passwords, addresses or other people's prompts. They are logged, redacted.
"""

import logging
import re
from typing import TypeVar

import msgspec

from hitsend.engine.http import Response, ResponseStream
from hitsend.errors import EngineDown, HitsendError, PromptTooLong, Refused, UnknownModel

T = TypeVar("T")

log = logging.getLogger(__name__)

MAX_REDACTED_CHARS = 2000
MAX_LOGGED_CHARS = 200
MAX_BODY_BYTES = 65_536
MAX_RETRY_AFTER_S = 3600.0

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised by msgspec for JSON that is malformed, not UTF-8, or too deep."""
UNREADABLE_ANSWER = "The engine sent something unreadable in its answer. Try again in a moment."

TOO_LONG = (
    "This model's maximum context length is exceeded. Shorten the message, or begin a new "
    "conversation."
)
"""Programs look for its first words, and shorten what they send."""
TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
TOO_LONG_WORDS = ("context length", "context size", "context window", "maximum model length")

PRIVATE = re.compile(
    r"""(?P<name> (?: password | passwd | passphrase | passwort | kennwort | secret | token
              | api[_\s-]?key | authorization ) ["'`]? \s? (?: [:=] | is\b ) \s?
              (?: (?: bearer | basic ) \s )?
          | \b (?: bearer | basic ) \s
          | :// )
        (?: "[^"]* | '[^']* | [^\s,;]+ )
      | \b (?: sk | pk | rk | hs | hf | gh[pousr] | xox[a-z] ) [-_] [\w*-]{4,}
      | (?<! [\w+/=*-] ) [\w+/=*-]{32,}
      | "[^"]{24,} | '[^']{24,} | `[^`]{24,}""",
    re.IGNORECASE | re.VERBOSE,
)
"""Passwords and keys, by their name or form; addresses, which may contain them; and long quotes,
which may be of a prompt."""
LEFT_OUT = "[left out]"


class KeyRefused(EngineDown):
    """The server rejects our key. Retrying does not help."""


class Problem(msgspec.Struct, frozen=True):
    message: str = ""
    type: str | None = None
    code: str | int | None = None


class _Body(msgspec.Struct, frozen=True):
    """Servers put the message at the top level or under `error`, as an object or a string."""

    error: Problem | str | None = None
    message: str | None = None
    detail: str | None = None


def read_response(response: Response, kind: type[T], model: str = "") -> T:
    """Parses the body. Raises the translated error for a status other than 200."""
    if response.status != 200:
        raise translate_error(response.status, response.headers, response.body, model)
    try:
        return msgspec.json.decode(response.body, type=kind)
    except UNREADABLE as error:
        raise EngineDown("The engine answered with something else.") from error


async def require_ok(stream: ResponseStream, model: str = "") -> None:
    """Raises the translated error for a status other than 200."""
    if stream.status == 200:
        return
    body = b""
    while len(body) < MAX_BODY_BYTES and (more := await stream.read()):
        body += more
    raise translate_error(stream.status, stream.headers, body, model)


def translate_error(status: int, headers: dict[str, str], body: bytes, model: str) -> HitsendError:
    problem = read_problem(body)
    log_problem(f"answered {status}", problem)
    if status in (401, 403):
        return KeyRefused(
            "The remote engine refuses hitsend's key. Set `engine_key` (HITSEND_ENGINE_KEY)."
        )
    if status in (429, 503):
        return EngineDown(
            "The engine is busy. Try again in a moment.",
            retry_after_s=_retry_after_s(headers.get("retry-after")),
        )
    if status == 404 and "model" in f"{problem.code} {problem.message}".lower():
        return UnknownModel(f"The remote engine has no model {model!r}.", param="model")
    if status in (400, 413, 422):
        return _refusal(problem)
    return EngineDown(f"The engine answered {status}. Try again in a moment.")


def read_problem(body: bytes) -> Problem:
    try:
        found = msgspec.json.decode(body, type=_Body)
    except UNREADABLE:
        return Problem()
    if isinstance(found.error, Problem):
        return found.error
    return Problem(found.error or found.message or found.detail or "")


def _refusal(problem: Problem) -> HitsendError:
    is_too_long = {problem.code, problem.type} & TOO_LONG_CODES or any(
        words in problem.message.lower() for words in TOO_LONG_WORDS
    )
    if is_too_long:
        return PromptTooLong(TOO_LONG, param="messages")
    return Refused("The engine refused the request. An administrator finds the reason in the log.")


def log_problem(what: str, problem: Problem | str) -> None:
    message = problem if isinstance(problem, str) else problem.message
    if message:
        log.warning("The engine %s: %s", what, redact(message))


def redact(message: str) -> str:
    """Returns the beginning of a server's message on one line, without secrets and long quotes."""
    line = " ".join(message[:MAX_REDACTED_CHARS].split())
    redacted = PRIVATE.sub(lambda found: (found["name"] or "") + LEFT_OUT, line)
    return "".join([c if c.isprintable() else "?" for c in redacted[:MAX_LOGGED_CHARS]])


def _retry_after_s(retry_after: str | None) -> float | None:
    """Ignores Retry-After as a date: engines send seconds."""
    if not retry_after or not retry_after.isdecimal():
        return None
    return min(float(retry_after), MAX_RETRY_AFTER_S)
