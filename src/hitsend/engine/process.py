"""One run of the process a model lives in, from its start to its last words."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hitsend.engine.child import Launch
from hitsend.engine.http import Http
from hitsend.errors import EngineDown, EngineLost, ModelBroken

CHILD = Path(__file__).with_name("child.py")
LOOK_S = 0.05
MAX_TAIL_BYTES = 8192
STAMP = re.compile(r"^[\d.]+ [A-Z] +\S+ +\S+: |^[\d.]+ [A-Z] ")


class ModelProcess:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._tail = b""
        self._listener = asyncio.create_task(self._listen())
        self._ending = asyncio.create_task(process.wait())

    @classmethod
    async def start(cls, launch: Launch) -> "ModelProcess":
        """Isolated, so that no environment of ours can change what the child imports."""
        command = (sys.executable, "-I", str(CHILD))
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, env=_env()
            )
        except OSError as error:
            raise EngineDown(f"no process can be started ({error.strerror})") from error
        assert process.stdin
        with contextlib.suppress(ConnectionError):  # it died at once: waiting for it will tell
            process.stdin.write(msgspec.json.encode(launch) + b"\n")
            await process.stdin.drain()
        return cls(process)

    async def until_ready(self, http: Http) -> None:
        """Raises ModelBroken when it dies before it can be asked."""
        while not await self.has_ended(LOOK_S):
            with contextlib.suppress(EngineDown, EngineLost):
                if (await http.request("GET", "/health")).status == 200:
                    return
        await self._listener
        raise ModelBroken(self._last_words())

    async def has_ended(self, within_s: float, unless: asyncio.Event | None = None) -> bool:
        """Looks again when that time is over, or when there is reason to."""
        reason = asyncio.create_task(unless.wait()) if unless else None
        try:
            await asyncio.wait(
                [task for task in (self._ending, reason) if task],
                timeout=within_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            if reason:
                reason.cancel()
        return self._ending.done()

    async def end(self) -> None:
        """It has nothing to save, so it is not asked."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.wait([self._ending, self._listener])

    async def _listen(self) -> None:
        assert self._process.stderr
        while said := await self._process.stderr.read(MAX_TAIL_BYTES):
            self._tail = (self._tail + said)[-MAX_TAIL_BYTES:]

    def _last_words(self) -> str:
        """The line that says most: the first of the last run of errors, or how it died."""
        lines = [line for line in self._tail.decode(errors="replace").splitlines() if line.strip()]
        if reasons := list(_reasons(lines)):
            return reasons[0]
        code = self._process.returncode or 0
        if code == -signal.SIGKILL:
            return "the system killed it, most likely for lack of memory"
        if code < 0:
            return f"it crashed ({signal.Signals(-code).name})"
        return lines[-1].strip() if lines else f"it ended with status {code}"


def _reasons(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if "error loading model: " in line:
            yield line.partition("error loading model: ")[2].strip()
    for line in lines:
        if STAMP.match(line):
            yield STAMP.sub("", line).strip()


def _env() -> dict[str, str]:
    """Ours without hitsend's settings: some are secrets, and the child needs none."""
    return {name: value for name, value in os.environ.items() if not name.startswith("HITSEND_")}
