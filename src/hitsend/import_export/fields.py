"""Converts and checks times, titles and texts of imported files. Raises BadImport."""

from datetime import datetime
from typing import TypeAlias

from hitsend.errors import BadImport
from hitsend.titles import title_from_text

ForeignTime: TypeAlias = float | str | None

MAX_TITLE_CHARS = 200
MAX_LABEL_CHARS = 80
MAX_PROBLEM_CHARS = 2_000
UNTITLED = "Untitled"


def parse_time(value: ForeignTime) -> float | None:
    """Returns Unix seconds. Accepts milli-, micro- and nanoseconds, and ISO dates."""
    if value is None:
        return None
    seconds = _seconds(value) if isinstance(value, str) else value
    while 1e11 < seconds < 1e20:
        seconds /= 1000
    if not 0 <= seconds <= 1e11:
        raise BadImport(f"It has an invalid time: {value}.")
    return seconds


def _seconds(date: str) -> float:
    if date.replace(".", "", 1).isdecimal():
        return float(date)
    try:
        return datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError):
        raise BadImport(f"It has an invalid time: {date[:40]!r}.") from None


def check_text(text: str) -> str:
    if "\0" in text:
        raise BadImport("It contains the NUL character (U+0000).")
    return text


def pick_title(title: str | None, first_words: str) -> str:
    """Returns one line: the title, or else the first words of the conversation."""
    given = " ".join(check_text(title or "").split())[:MAX_TITLE_CHARS].rstrip()
    return given or title_from_text(first_words) or UNTITLED


def clean_label(name: str | None) -> str | None:
    """Returns the name of a model or a folder, on one line."""
    return " ".join(check_text(name or "").split())[:MAX_LABEL_CHARS].rstrip() or None


def clean_problem(sentence: str | None) -> str | None:
    """Returns the reason why an answer failed, cut to a maximum length."""
    return check_text(sentence or "")[:MAX_PROBLEM_CHARS] or None


def fence_code(code: str, language: str) -> str:
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
