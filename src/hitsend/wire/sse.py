"""Server-sent events as bytes, in both directions, after the WHATWG specification.

Knows nothing of what the events mean.
"""

import re

import msgspec

DONE = b"data: [DONE]\n\n"
"""The last thing a stream says. One that ends without it was cut."""


def frame(data: bytes, event: str | None = None, seq: int | None = None, pad: int = 0) -> bytes:
    """One event. `data` is JSON on one line; spaces pad it to a multiple of `pad`, so that
    the length of an encrypted record tells less about the words in it."""
    spaces = b" " * (-len(data) % pad) if pad else b""
    head = b"" if seq is None else b"id: %d\n" % seq
    if event is not None:
        head += b"event: %b\n" % event.encode()
    return b"%bdata: %b%b\n\n" % (head, data, spaces)


def heartbeat(unix_ms: int) -> bytes:
    """A comment: it keeps the line open and no reader sees it."""
    return b": ping %d\n\n" % unix_ms


class SseEvent(msgspec.Struct, frozen=True):
    data: str
    event: str = "message"
    last_id: str = ""
    """The last id seen so far, whether or not this event carried it."""


class SseParser:
    """Bytes in, cut anywhere; events out as soon as they are whole."""

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        self._last_id = ""
        self._event = ""
        self._data: list[str] = []
        self._partial: list[bytes] = []
        self._is_first_line = True
        self._was_cr = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        return [event for line in self._lines(chunk) if (event := self._take(line))]

    def _lines(self, chunk: bytes) -> list[bytes]:
        """The lines this chunk completes. A CR ends a line; an LF right after it is part of it."""
        if self._was_cr and chunk:
            chunk, self._was_cr = chunk.removeprefix(b"\n"), False
        *lines, rest = LINE_END.split(chunk)
        if lines:
            self._was_cr = chunk.endswith(b"\r")
            lines[0] = b"".join((*self._partial, lines[0]))
            self._partial.clear()
        self._partial.append(rest)
        return lines

    def _take(self, line: bytes) -> SseEvent | None:
        if self._is_first_line:
            line, self._is_first_line = line.removeprefix(BOM), False
        if not line:
            return self._dispatched()
        name, _, value = line.decode(errors="replace").partition(":")
        self._set(name, value.removeprefix(" "))
        return None

    def _set(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._last_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = int(value)

    def _dispatched(self) -> SseEvent | None:
        data, event = self._data, self._event or "message"
        self._data, self._event = [], ""
        return SseEvent("\n".join(data), event, self._last_id) if data else None


LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"
