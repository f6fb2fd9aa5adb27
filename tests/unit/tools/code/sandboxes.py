"""The sandboxes that are on this machine, and what tests ask of each.

Monty is everywhere. CPython is where `make sandbox` and `apt install bubblewrap` were run; where it
is not, `UNISOLATED` runs what is the same in both, for programs that mean no harm.
"""

import asyncio
import os
import select
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hitsend.settings import Settings
from hitsend.tools.code import CodeRunner, Owner, wasi
from hitsend.tools.code.bubblewrap import BubblewrapSandbox, CannotIsolate, build_worker
from hitsend.tools.code.child import ChildInterpreter
from hitsend.tools.code.monty import MontySandbox
from hitsend.tools.code.sandbox import Limits, Sandbox
from hitsend.tools.code.wasi import WasiSandbox

LIMITS = Limits(time_s=60, memory_bytes=64_000_000, output_bytes=10_000)
SHORT = Limits(time_s=0.5, memory_bytes=64_000_000, output_bytes=10_000)
CPYTHON = Limits(time_s=60, memory_bytes=256_000_000, output_bytes=10_000)
ALICE, BOB = Owner("alice", "c1"), Owner("bob", "c2")


def _try_bubblewrap() -> str:
    try:
        BubblewrapSandbox(LIMITS, None)
    except CannotIsolate as error:
        return str(error)
    return ""


WASI_PROBLEM = wasi.find_problem(Settings().sandbox_dir)
BUBBLEWRAP_PROBLEM = _try_bubblewrap()
ISOLATED = [
    "monty",
    *([] if WASI_PROBLEM else ["wasi"]),
    *([] if BUBBLEWRAP_PROBLEM else ["bubblewrap"]),
]
UNISOLATED = "unisolated"
CPYTHONS = [UNISOLATED, *(name for name in ISOLATED if name != "monty")]


class Unisolated:
    """CPython in a child process that nothing holds in."""

    description = ""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._folder = TemporaryDirectory()

    def open(self, time_zone: str) -> ChildInterpreter:
        return ChildInterpreter(self, self._limits, time_zone)

    async def start(self, time_s: float) -> asyncio.subprocess.Process:
        program = build_worker(self._limits)
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-c", program),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={},
            cwd=self._folder.name,
        )

    async def close(self) -> None:
        self._folder.cleanup()


def make_sandbox(name: str, limits: Limits, max_running: int) -> Sandbox:
    match name:
        case "wasi":
            return WasiSandbox(limits, Settings().sandbox_dir)
        case "bubblewrap":
            return BubblewrapSandbox(limits, None)
        case "unisolated":
            return Unisolated(limits)
        case _:
            return MontySandbox(limits, max_running)


@asynccontextmanager
async def open_runner(
    limits: Limits = LIMITS,
    *,
    sandbox: str = "monty",
    max_running: int = 2,
    max_interpreters: int = 8,
    wait_s: float = 30,
) -> AsyncGenerator[CodeRunner]:
    runner = CodeRunner(
        await asyncio.to_thread(make_sandbox, sandbox, limits, max_running),
        limits,
        max_running=max_running,
        max_interpreters=max_interpreters,
        wait_s=wait_s,
    )
    try:
        yield runner
    finally:
        await runner.close()


class Running:
    """A program that was started, and what it has printed."""

    def __init__(self, runner: CodeRunner, owner: Owner, code: str) -> None:
        self.printed = ""
        self._has_printed = asyncio.Event()
        self.task = asyncio.create_task(runner.run(owner, code, self._add))

    async def wait_for(self, text: str) -> None:
        async with asyncio.timeout(30):
            while text not in self.printed:
                await self._has_printed.wait()
                self._has_printed.clear()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})

    def _add(self, text: str) -> None:
        self.printed += text
        self._has_printed.set()


async def wait_for_end(processes: set[int]) -> None:
    for pid in processes:
        try:
            ended = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            assert await asyncio.to_thread(select.select, [ended], [], [], 30) != ([], [], [])
        finally:
            os.close(ended)


def child_processes() -> set[int]:
    """Returns the ids of our children that run."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.add(int(process.name))
    return found
