"""Server-sent events, as engines write them: one JSON value on each `data:` line.

Fed with bytes cut anywhere; gives the values that are whole by then. Knows no JSON.
"""

from hitsend.errors import EngineLost

MAX_LINE_BYTES = 4 * 2**20


class SseReader:
    def __init__(self) -> None:
        self._rest = b""
        self.is_done = False
        """Whether the engine said `[DONE]`."""

    def feed(self, data: bytes) -> list[bytes]:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_LINE_BYTES:
            raise EngineLost("The engine sent a line without an end.")
        values = []
        for line in lines:
            if line.startswith(b"data:"):
                value = line[5:].strip()
                if value == b"[DONE]":
                    self.is_done = True
                    break
                values.append(value)
        return values
