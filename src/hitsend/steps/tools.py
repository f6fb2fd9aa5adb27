"""Step 8, tools: runs the calls of our tools that the model made in a round of its answer."""

from collections.abc import Sequence
from typing import NamedTuple

from hitsend.context.notes import Note
from hitsend.errors import Refused
from hitsend.events import AnyEvent, ToolReturned
from hitsend.messages import ToolCall, ToolResult
from hitsend.tools import CallResult, Tools

MAX_CALLS = 4
"""Calls in one round beyond it are not run: a small model repeats itself."""


class ToolsRun(NamedTuple):
    notes: list[Note]
    events: list[AnyEvent]


async def run_tools(calls: Sequence[ToolCall], tools: Tools) -> ToolsRun:
    ran = ToolsRun([], [])
    for call in calls[:MAX_CALLS]:
        try:
            result = await tools[call.tool](call)
            returned = ToolResult(call.call_id, result.output)
        except Refused as problem:
            result = CallResult(problem.message)
            returned = ToolResult(call.call_id, problem.message, failed=True)
        ran.notes.extend(result.notes)
        ran.events.extend([ToolReturned(returned), *result.events])
    return ran
