"""The tool with which a model runs Python, and the runner that the settings ask for."""

from typing import Annotated

from msgspec import Meta

from hitsend.settings import Settings
from hitsend.tools.code.monty import MontySandbox
from hitsend.tools.code.runner import CodeRunner, Owner
from hitsend.tools.code.sandbox import Limits
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool, hosted_tool

DESCRIPTION = """\
Runs Python and returns what it prints, and the value of its last expression. Variables stay for \
the next run in this conversation. Use it for arithmetic, counting, dates, sorting, text and data. \
"""
STOP_S = 10.0
"""For a program to be stopped, beyond the time it may run."""


def build_code_runner(settings: Settings) -> CodeRunner | None:
    """Starts nothing before the first program. Returns None if Python is turned off."""
    if settings.python == "off":
        return None
    limits = Limits(
        time_s=settings.python_time_s,
        memory_bytes=settings.python_memory_bytes,
        output_bytes=settings.python_output_bytes,
    )
    return CodeRunner(
        MontySandbox(limits, settings.python_running),
        limits,
        max_running=settings.python_running,
        max_interpreters=settings.python_kept,
    )


def build_run_python(runner: CodeRunner) -> HostedTool:
    async def run_python(
        call: Call, *, code: Annotated[str, Meta(description="The Python program.")]
    ) -> CallResult:
        owner = Owner(call.user_id, call.conversation_id)
        return await runner.run(owner, code, call.report, call.time_zone)

    run_python.__doc__ = DESCRIPTION + runner.sandbox.description
    timeout_s = runner.wait_s + runner.limits.time_s + STOP_S
    return hosted_tool("code", timeout_s=timeout_s)(run_python)
