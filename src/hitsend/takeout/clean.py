"""Small values of foreign files: times, titles and texts, as we keep them or refused."""

from datetime import datetime
from typing import TypeAlias

from hitsend.errors import BadImport
from hitsend.titles import title_from

ForeignTime: TypeAlias = float | str | None

MOST_TITLE_CHARS = 200
MOST_LABEL_CHARS = 80
MOST_PROBLEM_CHARS = 2_000
UNTITLED = "Untitled"


def clean_time(value: ForeignTime) -> float | None:
    """In seconds. Programs also write milliseconds and smaller, and dates as text."""
    if value is None:
        return None
    seconds = _seconds(value) if isinstance(value, str) else value
    while 1e11 < seconds < 1e20:
        seconds /= 1000
    if not 0 <= seconds <= 1e11:
        raise BadImport(f"It has a time that is none: {value}.")
    return seconds


def _seconds(date: str) -> float:
    if date.replace(".", "", 1).isdecimal():
        return float(date)
    try:
        return datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError):
        raise BadImport(f"It has a time that is none: {date[:40]!r}.") from None


def clean_text(text: str) -> str:
    if "\0" in text:
        raise BadImport("It has the NUL character (U+0000) in it, which no text has.")
    return text


def clean_title(title: str | None, first_words: str) -> str:
    """One line. Without a title, the first words that were said."""
    given = " ".join(clean_text(title or "").split())[:MOST_TITLE_CHARS].rstrip()
    return given or title_from(first_words) or UNTITLED


def clean_label(name: str | None) -> str | None:
    """What a model or a folder is called."""
    return " ".join(clean_text(name or "").split())[:MOST_LABEL_CHARS].rstrip() or None


def clean_problem(sentence: str | None) -> str | None:
    """Why an answer failed."""
    return clean_text(sentence or "")[:MOST_PROBLEM_CHARS] or None


def fenced(code: str, language: str) -> str:
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
