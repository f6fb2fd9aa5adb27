"""What an engine says when it does not answer, in hitsend's own errors.

The one place that knows how servers of different makes word the same trouble.
"""

from typing import TypeVar

import msgspec

from hitsend.engine.http import Answer, Stream
from hitsend.errors import EngineDown, HitsendError, PromptTooLong, Refused, UnknownModel

T = TypeVar("T")

MAX_SAID_CHARS = 300
MAX_BODY_BYTES = 65_536

TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
TOO_LONG_WORDS = ("context length", "context size", "context window", "maximum model length")


class KeyRefused(EngineDown):
    """Nothing but another key will help."""


class Problem(msgspec.Struct, frozen=True):
    message: str = ""
    type: str | None = None
    code: str | int | None = None


class _Body(msgspec.Struct, frozen=True):
    """Servers put it at the top, under `error`, or say a bare sentence."""

    error: Problem | str | None = None
    message: str | None = None
    detail: str | None = None


def read_answer(answer: Answer, kind: type[T], model: str = "") -> T:
    """The body of a whole answer. Raises what a status other than 200 means."""
    if answer.status != 200:
        raise translate(answer.status, answer.headers, answer.body, model)
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except msgspec.DecodeError as error:
        raise EngineDown("The engine answered with something else.") from error


async def require_ok(stream: Stream, model: str = "") -> None:
    """Raises what a status other than 200 means."""
    if stream.status == 200:
        return
    body = b""
    while len(body) < MAX_BODY_BYTES and (more := await stream.read()):
        body += more
    raise translate(stream.status, stream.headers, body, model)


def translate(status: int, headers: dict[str, str], body: bytes, model: str) -> HitsendError:
    problem = read_problem(body)
    if status in (401, 403):
        return KeyRefused(
            "The remote engine refuses hitsend's key. Set `engine_key` (HITSEND_ENGINE_KEY)."
        )
    if status in (429, 503):
        return EngineDown(
            f"The engine is busy{_said(problem)}. Try again in a moment.",
            retry_after_s=_seconds(headers.get("retry-after")),
        )
    if status == 404 and "model" in f"{problem.code} {problem.message}".lower():
        return UnknownModel(f"The remote engine has no model {model!r}.", param="model")
    if status in (400, 413, 422):
        return _refusal(problem)
    return EngineDown(f"The engine answered {status}{_said(problem)}.")


def read_problem(body: bytes) -> Problem:
    try:
        found = msgspec.json.decode(body, type=_Body)
    except msgspec.DecodeError:
        return Problem()
    if isinstance(found.error, Problem):
        return found.error
    return Problem(found.error or found.message or found.detail or "")


def _refusal(problem: Problem) -> HitsendError:
    is_too_long = {problem.code, problem.type} & TOO_LONG_CODES or any(
        words in problem.message.lower() for words in TOO_LONG_WORDS
    )
    if is_too_long:
        return PromptTooLong("The message does not fit the model's window.", param="messages")
    return Refused(f"The engine refused the request{_said(problem)}.")


def _said(problem: Problem) -> str:
    said = " ".join(problem.message.split())[:MAX_SAID_CHARS].rstrip(".")
    return f": {said}" if said else ""


def _seconds(retry_after: str | None) -> float | None:
    """Only the form in seconds: nobody sends dates here."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else None
