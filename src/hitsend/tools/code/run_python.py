"""The tool with which a model runs Python."""

from typing import Annotated

from msgspec import Meta

from hitsend.tools.code.runner import CodeRunner, Owner
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool, hosted_tool

DESCRIPTION = """\
Runs Python and returns what it prints, and the value of its last expression. Variables stay for \
the next run in this conversation. Use it for arithmetic, counting, dates, sorting, text and data. \
"""
STOP_S = 10.0
"""For a program to be stopped, beyond the time it may run."""


def build_run_python(runner: CodeRunner) -> HostedTool:
    async def run_python(
        call: Call, *, code: Annotated[str, Meta(description="The Python program.")]
    ) -> CallResult:
        owner = Owner(call.user_id, call.conversation_id)
        return await runner.run(owner, code, call.report, call.time_zone)

    run_python.__doc__ = DESCRIPTION + runner.sandbox.description
    timeout_s = runner.wait_s + runner.limits.time_s + STOP_S
    return hosted_tool("code", timeout_s=timeout_s)(run_python)
