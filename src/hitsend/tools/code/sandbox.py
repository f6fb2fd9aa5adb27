"""What runs Python for a model: a sandbox, which opens an interpreter for each conversation.

`monty.py`, `wasi.py` and `bubblewrap.py` are sandboxes. They know nothing of people, conversations
and tools.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from hitsend.tools.hosted_tool import ToolFile


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one program may use."""

    time_s: float
    memory_bytes: int
    output_bytes: int


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended. What it printed is in its `Printed`."""

    value: str | None = None
    """The repr of its last expression, unless that is None."""
    error: str | None = None
    """Why it failed, for the model to repair. None if it did not."""
    files: tuple[ToolFile, ...] = ()
    note: str = ""
    """What became of its variables, where that is not plain."""


class Printed:
    """What a program prints. It is reported while the program runs, up to a limit."""

    def __init__(self, report: Callable[[str], None], max_bytes: int) -> None:
        self._report = report
        self._max_bytes = max_bytes
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._pieces: list[str] = []
        self._num_reported = 0
        self._num_bytes = 0
        self._is_scheduled = False
        self.is_cut = False
        """Whether it was more than the limit."""

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, text: str) -> None:
        """May be called in any thread. Drops what is over the limit."""
        with self._lock:
            encoded = text.encode(errors="replace")
            kept = encoded[: self._max_bytes - self._num_bytes]
            self.is_cut = self.is_cut or len(kept) < len(encoded)
            self._num_bytes += len(kept)
            self._pieces.append(kept.decode(errors="ignore"))
            if not self._is_scheduled:
                self._is_scheduled = True
                self._loop.call_soon_threadsafe(self.flush)

    def flush(self) -> None:
        """Reports what is new, in the event loop's thread."""
        with self._lock:
            self._is_scheduled = False
            new = "".join(self._pieces[self._num_reported :])
            self._num_reported = len(self._pieces)
        if new:
            self._report(new)


class Interpreter(Protocol):
    """The Python of one conversation, with its variables. It runs one program at a time."""

    @property
    def is_alive(self) -> bool:
        """False once its variables are lost."""
        ...

    async def run(self, code: str, printed: Printed, files: Mapping[str, str]) -> Outcome:
        """Runs a program to its end or to a limit. Cancelling ends the program. The files are those
        that the person attached, by name: the program may read them.

        Raises Unavailable if it cannot be started.
        """
        ...

    async def close(self) -> None: ...


class Sandbox(Protocol):
    @property
    def description(self) -> str:
        """What its Python can and cannot do, for the model."""
        ...

    def open(self, time_zone: str) -> Interpreter:
        """Makes an interpreter without variables. Nothing is started before it runs a program."""
        ...

    async def close(self) -> None: ...


def cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[:max_chars] + "…"
