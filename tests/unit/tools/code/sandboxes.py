"""The sandboxes that are installed, and what tests ask of each."""

import asyncio
import os
import select
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from hitsend.tools.code import CodeRunner, Owner
from hitsend.tools.code.monty import MontySandbox
from hitsend.tools.code.sandbox import Limits

LIMITS = Limits(time_s=60, memory_bytes=64_000_000, output_bytes=10_000)
SHORT = Limits(time_s=0.5, memory_bytes=64_000_000, output_bytes=10_000)
ALICE, BOB = Owner("alice", "c1"), Owner("bob", "c2")


@asynccontextmanager
async def open_runner(
    limits: Limits = LIMITS,
    *,
    max_running: int = 2,
    max_interpreters: int = 8,
    wait_s: float = 30,
) -> AsyncGenerator[CodeRunner]:
    runner = CodeRunner(
        MontySandbox(limits, max_running),
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
