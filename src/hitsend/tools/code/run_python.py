"""The tool with which a model runs Python, and the runner that the settings ask for."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from msgspec import Meta

from hitsend.errors import Unavailable
from hitsend.settings import Settings
from hitsend.tools.code import wasi
from hitsend.tools.code.bubblewrap import BubblewrapSandbox, CannotIsolate, find_command
from hitsend.tools.code.monty import MontySandbox
from hitsend.tools.code.runner import CodeRunner, Owner
from hitsend.tools.code.sandbox import Interpreter, Limits, Sandbox
from hitsend.tools.code.wasi import WasiSandbox
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool, hosted_tool

log = logging.getLogger(__name__)

DESCRIPTION = """\
Runs Python and returns what it prints, and the value of its last expression. Variables stay for \
the next run in this conversation. Use it for counting, sorting, text and data. \
"""
EXAMPLES = """
Also: "Run this code: print(1 + 1)", "Use Python to sort these names"
Also: "Execute a program that prints the first ten squares", "Count the vowels with a script"
"""
STOP_S = 10.0
"""For a program to be stopped, beyond the time it may run."""


def build_code_runner(settings: Settings) -> CodeRunner | None:
    """Starts nothing before the first program, but tries out whether bubblewrap isolates if it is
    asked for. Returns None if Python is turned off."""
    if settings.python == "off":
        return None
    limits = Limits(
        time_s=settings.python_time_s,
        memory_bytes=settings.python_memory_bytes,
        output_bytes=settings.python_output_bytes,
    )
    sandbox = build_sandbox(settings, limits)
    is_process = not isinstance(sandbox, MontySandbox)
    return CodeRunner(
        sandbox,
        limits,
        max_running=settings.python_running,
        max_interpreters=settings.python_processes if is_process else settings.python_kept,
    )


def build_sandbox(settings: Settings, limits: Limits) -> Sandbox:
    match settings.python:
        case "wasi":
            if problem := wasi.find_problem(settings.sandbox_dir):
                return NoSandbox(problem)
            return WasiSandbox(limits, settings.sandbox_dir)
        case "bubblewrap":
            try:
                return BubblewrapSandbox(limits, settings.python_executable)
            except CannotIsolate as error:
                log.error("Python is not run: %s", error)
                return NoSandbox(f"Python cannot run safely on this server. {error}")
        case _:
            return MontySandbox(limits, settings.python_running)


def find_sandboxes(settings: Settings) -> Sequence[str]:
    """Returns the values of `python` that would work here, without starting anything."""
    found = ["monty"]
    if not wasi.find_problem(settings.sandbox_dir):
        found.append("wasi")
    with suppress(CannotIsolate):
        find_command()
        found.append("bubblewrap (tried out when it starts)")
    return found


class NoSandbox:
    """Stands in for a sandbox that cannot be used, and says why."""

    description = ""

    def __init__(self, problem: str) -> None:
        self.problem = problem

    def open(self, time_zone: str) -> Interpreter:
        raise Unavailable(self.problem)

    async def close(self) -> None:
        return None


def build_run_python(runner: CodeRunner) -> HostedTool:
    async def run_python(
        call: Call, *, code: Annotated[str, Meta(description="The Python program.")]
    ) -> CallResult:
        owner = Owner(call.user_id, call.conversation_id)
        files = await call.read_attached_files()
        return await runner.run(owner, code, call.report, call.time_zone, files)

    run_python.__doc__ = DESCRIPTION + runner.sandbox.description + EXAMPLES
    timeout_s = runner.wait_s + runner.limits.time_s + STOP_S
    return hosted_tool("code", timeout_s=timeout_s)(run_python)
