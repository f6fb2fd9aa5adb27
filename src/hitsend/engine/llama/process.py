"""One child process that runs a model, from its start to the reason of its death."""

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

from hitsend.engine.http import HttpClient
from hitsend.engine.llama.child import Launch
from hitsend.errors import EngineDown, EngineLost, ModelBroken

CHILD = Path(__file__).with_name("child.py")
POLL_S = 0.05
MAX_STDERR_BYTES = 8192
SPIN_COUNT = "1000"
"""How often a thread of the engine looks whether the others are done before it sleeps: about 30 µs.
The default, 300,000, is milliseconds, in which it keeps a core from the very thread it waits for.
On two cores that another program uses too, the engine decoded 4 tokens a second instead of 47."""
LOG_PREFIX = re.compile(r"^[\d.]+ [A-Z] +\S+ +\S+: |^[\d.]+ [A-Z] ")


class ModelProcess:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._stderr = b""
        self._stderr_reader = asyncio.create_task(self._read_stderr())
        self._exit = asyncio.create_task(process.wait())

    @classmethod
    async def start(cls, launch: Launch) -> "ModelProcess":
        """Runs Python isolated (-I), so that our environment cannot change what it imports; and in
        a session of its own, so that Ctrl-C reaches only the server, which drains first."""
        command = (sys.executable, "-I", str(CHILD))
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=PIPE,
                env=_env(),
                start_new_session=True,
            )
        except OSError as error:
            raise EngineDown(f"no process can be started ({error.strerror})") from error
        assert process.stdin
        with contextlib.suppress(ConnectionError):  # it died at once: wait_until_ready reports it
            process.stdin.write(msgspec.json.encode(launch) + b"\n")
            await process.stdin.drain()
        return cls(process)

    async def wait_until_ready(self, http: HttpClient) -> None:
        """Raises ModelBroken if the process dies first."""
        while not await self.wait_for_end(POLL_S):
            with contextlib.suppress(EngineDown, EngineLost):
                if (await http.request("GET", "/health")).status == 200:
                    return
        await self._stderr_reader
        raise ModelBroken(self._death_reason())

    async def wait_for_end(self, timeout_s: float, unless: asyncio.Event | None = None) -> bool:
        """Waits until the process ends, the timeout passes or `unless` is set. Returns whether the
        process ended."""
        interrupt = asyncio.create_task(unless.wait()) if unless else None
        try:
            await asyncio.wait(
                [task for task in (self._exit, interrupt) if task],
                timeout=timeout_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            if interrupt:
                interrupt.cancel()
        return self._exit.done()

    async def kill(self) -> None:
        """Without a shutdown: the process has nothing to save."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.wait([self._exit, self._stderr_reader])

    async def _read_stderr(self) -> None:
        assert self._process.stderr
        while new := await self._process.stderr.read(MAX_STDERR_BYTES):
            self._stderr = (self._stderr + new)[-MAX_STDERR_BYTES:]

    def _death_reason(self) -> str:
        """Returns the first error line of its stderr, or else how it exited."""
        lines = [
            line for line in self._stderr.decode(errors="replace").splitlines() if line.strip()
        ]
        if (reason := next(_error_lines(lines), None)) is not None:
            return reason
        code = self._process.returncode or 0
        if code == -signal.SIGKILL:
            return "the system killed it, most likely for lack of memory"
        if code < 0:
            return f"it crashed ({signal.Signals(-code).name})"
        return lines[-1].strip() if lines else f"it ended with status {code}"


def _error_lines(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if "error loading model: " in line:
            yield line.partition("error loading model: ")[2].strip()
    for line in lines:
        if LOG_PREFIX.match(line):
            yield LOG_PREFIX.sub("", line).strip()


def _env() -> dict[str, str]:
    """Our environment without hitsend's settings: some are secrets, and the child needs none."""
    inherited = {name: value for name, value in os.environ.items() if name[:8] != "HITSEND_"}
    return {"GOMP_SPINCOUNT": SPIN_COUNT} | inherited
