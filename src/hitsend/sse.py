"""Reads and writes server-sent events.

Both readers take bytes that are cut anywhere. `SseParser` follows the WHATWG specification.
`SseDataReader` reads the streams of engines, with one JSON value on each data line and nothing
else of interest: it runs for every token, and is three times as fast.
"""

import re

import msgspec

from hitsend.errors import EngineLost

LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"
MAX_LINE_BYTES = 4 * 2**20
DONE_DATA = b"[DONE]"
DONE = b"data: %b\n\n" % DONE_DATA
"""The last frame of a stream. Clients detect truncation by its absence."""


def encode_frame(
    data: bytes, event: str | None = None, seq: int | None = None, pad: int = 0
) -> bytes:
    """`data` is JSON on one line; spaces pad it to a multiple of `pad`, so that the length of
    an encrypted record reveals less about the words in it. Each token is a frame, so the space
    that may follow a colon is left out, except where simple clients look for "data: "."""
    spaces = b" " * (-len(data) % pad) if pad else b""
    head = b"" if seq is None else b"id:%d\n" % seq
    if event is not None:
        head += b"event:%b\n" % event.encode()
    return b"%bdata: %b%b\n\n" % (head, data, spaces)


def encode_heartbeat(unix_ms: int, sentence: str = "") -> bytes:
    """An SSE comment: it keeps the connection open, and parsers ignore it. People who look at the
    stream read the `sentence`."""
    said = f": {sentence}\n".encode() if sentence else b""
    return b": ping %d\n%b\n" % (unix_ms, said)


class SseEvent(msgspec.Struct, frozen=True):
    data: str
    event: str = "message"
    last_id: str = ""
    """The last id of the stream so far; this event may have had none."""


class SseParser:
    """Returns each event once it is complete."""

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        self._last_id = ""
        self._event = ""
        self._data: list[str] = []
        self._partial: list[bytes] = []
        self._is_first_line = True
        self._was_cr = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        return [event for line in self._split(chunk) if (event := self._parse_line(line))]

    def _split(self, chunk: bytes) -> list[bytes]:
        """Returns the lines this chunk completes. CR, LF and CRLF each end a line."""
        if self._was_cr and chunk:
            chunk, self._was_cr = chunk.removeprefix(b"\n"), False
        *lines, rest = LINE_END.split(chunk) if b"\r" in chunk else chunk.split(b"\n")
        if lines:
            self._was_cr = chunk.endswith(b"\r")
            lines[0] = b"".join((*self._partial, lines[0]))
            self._partial.clear()
        self._partial.append(rest)
        return lines

    def _parse_line(self, line: bytes) -> SseEvent | None:
        if self._is_first_line:
            line, self._is_first_line = line.removeprefix(BOM), False
        if not line:
            return self._dispatch()
        name, _, value = line.decode(errors="replace").partition(":")
        self._set_field(name, value.removeprefix(" "))
        return None

    def _set_field(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._last_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = int(value)

    def _dispatch(self) -> SseEvent | None:
        data, event = self._data, self._event or "message"
        self._data, self._event = [], ""
        return SseEvent("\n".join(data), event, self._last_id) if data else None


class SseDataReader:
    """Returns the value of each data line, up to `[DONE]`."""

    def __init__(self) -> None:
        self._partial = b""
        self.is_done = False
        """Whether `[DONE]` has arrived."""

    def feed(self, chunk: bytes) -> list[bytes]:
        lines = (self._partial + chunk).split(b"\n")
        self._partial = lines.pop()
        if len(self._partial) > MAX_LINE_BYTES:
            raise EngineLost("The engine sent a line without an end.")
        values = []
        for line in lines:
            if line[:5] == b"data:":
                value = line[5:].strip()
                if value == DONE_DATA:
                    self.is_done = True
                    break
                values.append(value)
        return values
