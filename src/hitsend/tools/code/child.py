"""Runs programs in a child process that keeps their variables: one process per conversation.

The process reads requests and answers in frames: a length of four bytes, a kind of one, and what it
is about. `harness.py` is what answers. A program can send frames too, so all of it is bounded, and
taken for no more than what a program printed.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

import msgspec

from hitsend.errors import Unavailable
from hitsend.tools.code.kept_files import make_file, pick_kept
from hitsend.tools.code.sandbox import Limits, Outcome, Printed, cut
from hitsend.tools.hosted_tool import ToolFile

log = logging.getLogger(__name__)

START_S = 60.0
"""For the process to be ready. It reads hundreds of megabytes from the disk the first time."""
MAX_FRAME_BYTES = 16 * 2**20
MAX_VALUE_CHARS = 20_000
GONE = "The variables of earlier runs are gone with it."


class Launcher(Protocol):
    """Starts the process of a sandbox."""

    async def start(self, time_s: float) -> asyncio.subprocess.Process: ...


class Request(msgspec.Struct, frozen=True):
    code: str
    time_zone: str
    files: Mapping[str, str]


class ChildInterpreter:
    def __init__(self, launcher: Launcher, limits: Limits, time_zone: str) -> None:
        self._launcher = launcher
        self._limits = limits
        self._time_zone = time_zone
        self._process: asyncio.subprocess.Process | None = None
        self._is_lost = False

    @property
    def is_alive(self) -> bool:
        return not self._is_lost

    async def run(self, code: str, printed: Printed, files: Mapping[str, str]) -> Outcome:
        is_whole = False
        try:
            process = self._process or await self._start()
            request = msgspec.json.encode(Request(code, self._time_zone, dict(files)))
            outcome = await self._run(process, request, printed)
            is_whole = self._process is not None
            return outcome
        finally:
            if not is_whole:
                await self.close()
                self._is_lost = True

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await end_process(process)

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            process = await self._launcher.start(self._limits.time_s)
        except OSError as error:
            log.error("Python cannot be started: %s", error)
            raise Unavailable("Python cannot be started on this server.") from None
        self._process = process
        try:
            async with asyncio.timeout(START_S):
                while await read_frame(process) != b"d":
                    continue
        except (TimeoutError, EOFError, ConnectionError, ValueError):
            log.error("Python did not start: `hitsend doctor` may say why")
            raise Unavailable("Python did not start on this server.") from None
        return process

    async def _run(
        self, process: asyncio.subprocess.Process, request: bytes, printed: Printed
    ) -> Outcome:
        """Closes the process if it has to be stopped, or has ended."""
        results = Results(printed)
        reason = ""
        try:
            async with asyncio.timeout(self._limits.time_s):
                assert process.stdin is not None
                process.stdin.write(len(request).to_bytes(4, "big") + request)
                await process.stdin.drain()
                while not results.is_over:
                    results.add(await read_frame(process))
        except TimeoutError:
            reason = f"The program was stopped: it runs longer than {self._limits.time_s:g} s."
        except (EOFError, ConnectionError, ValueError):
            reason = "Python crashed while it ran the program."
        if printed.is_cut:
            reason = f"The program was stopped: it prints over {self._limits.output_bytes} bytes."
        if reason:
            await self.close()
            return results.outcome(f"{reason} {GONE}")
        return results.outcome()


class Results:
    """What a program has sent so far."""

    def __init__(self, printed: Printed) -> None:
        self._printed = printed
        self._files: list[ToolFile] = []
        self._num_lost = 0
        self._value: str | None = None
        self._error: str | None = None
        self.is_over = False

    def add(self, frame: bytes) -> None:
        kind, content = frame[:1], frame[1:]
        if kind == b"o":
            self._printed.add(content.decode(errors="replace"))
            self.is_over = self._printed.is_cut
        elif kind == b"v":
            self._value = cut(content.decode(errors="replace"), MAX_VALUE_CHARS)
        elif kind == b"e":
            self._error = cut(content.decode(errors="replace"), MAX_VALUE_CHARS)
        elif kind == b"f":
            self._add_file(content)
        elif kind == b"l":
            self._num_lost += 1
        elif kind == b"d":
            self.is_over = True

    def outcome(self, stopped: str | None = None) -> Outcome:
        note = f"[Files that were not kept: {self._num_lost}]" if self._num_lost else ""
        return Outcome(
            value=self._value,
            error=stopped or self._error,
            files=tuple(self._files),
            note=note,
        )

    def _add_file(self, content: bytes) -> None:
        name, _, content = content.partition(b"\0")
        kept = pick_kept([*self._files, make_file(name.decode(errors="replace"), content)])
        self._num_lost += len(self._files) + 1 - len(kept)
        self._files = list(kept)


async def read_frame(process: asyncio.subprocess.Process) -> bytes:
    """Raises EOFError when the process has ended, ValueError for what is no frame."""
    assert process.stdout is not None
    length = int.from_bytes(await process.stdout.readexactly(4), "big")
    if not 0 < length <= MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {length} bytes")
    return await process.stdout.readexactly(length)


async def end_process(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    if process.stdin is not None:
        process.stdin.close()
    if process.stdout is not None:  # asyncio waits for its end, too
        while await process.stdout.read(MAX_FRAME_BYTES):
            continue
    await process.wait()
