"""What happened at each server lately: its standard error, and how connections went. In memory."""

import time
from collections import deque
from collections.abc import Sequence

import msgspec

from hitsend.tools.mcp.definitions import clean_line

MAX_LINES = 300
MAX_LINE_CHARS = 1_000


class LogLine(msgspec.Struct, frozen=True):
    at: float
    source: str
    """`stderr`, or `hitsend`."""
    text: str


class ServerLog:
    def __init__(self) -> None:
        self._lines: deque[LogLine] = deque(maxlen=MAX_LINES)

    @property
    def lines(self) -> Sequence[LogLine]:
        return tuple(self._lines)

    def note(self, text: str) -> None:
        self._add("hitsend", text)

    def add_stderr(self, text: str) -> None:
        self._add("stderr", text)

    def _add(self, source: str, text: str) -> None:
        self._lines.append(LogLine(time.time(), source, clean_line(text, MAX_LINE_CHARS)))
