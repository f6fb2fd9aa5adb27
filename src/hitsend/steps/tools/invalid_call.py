"""Calls that cannot run as the model wrote them: they cannot be read, name no tool, or their
arguments do not fit its schema. The model is told why, and may call once more."""

import asyncio
from collections.abc import Mapping
from uuid import uuid4

import msgspec
from msgspec import UNSET

from hitsend.errors import Refused
from hitsend.events import ToolReturned, ToolStarted
from hitsend.messages import ToolCall, ToolResult
from hitsend.steps.tools.call_run import EventQueue, Outcome
from hitsend.tools import HostedTool

REPAIR = "Nothing ran. Correct the call and make it once more, or answer without it."
MAX_LISTED_TOOLS, MAX_QUOTED_CHARS = 20, 400


async def find_problem(call: ToolCall, tools: Mapping[str, HostedTool]) -> str:
    """Returns what is wrong with the call, for the model, or nothing."""
    tool = tools.get(call.tool)
    if tool is None:
        listed = ", ".join(list(tools)[:MAX_LISTED_TOOLS])
        return f"There is no tool {call.tool!r}. The tools are: {listed}.{_quote(call)}"
    if call.is_partial:
        problem = _find_json_problem(call.arguments)
        return f"Your call of {call.tool} could not be read: {problem}.{_quote(call)}"
    try:
        await asyncio.to_thread(tool.check, call.arguments)
    except Refused as error:
        return error.message
    return ""


def _quote(call: ToolCall) -> str:
    return f" You wrote: {call.arguments[:MAX_QUOTED_CHARS]}" if call.is_partial else ""


def _find_json_problem(arguments: str) -> str:
    try:
        msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        return str(error)
    return "it has no `arguments`"


class RefusedCall:
    """A call that does not run. Its message says why."""

    def __init__(self, returned: ToolResult, parent_id: str | None, events: EventQueue) -> None:
        self.message_id = str(uuid4())
        self._returned = returned
        self._parent_id = parent_id
        self._emit = events.add

    @property
    def started_event(self) -> ToolStarted:
        begun = msgspec.structs.replace(self._returned, output="", failed=False, is_invalid=UNSET)
        return ToolStarted(self.message_id, self._parent_id, begun)

    async def run(self) -> Outcome:
        self._emit(ToolReturned(self._returned))
        return Outcome(self._returned)


def refuse_call(call: ToolCall, tool: HostedTool | None, reason: str) -> ToolResult:
    server = tool.server if tool else ""
    return ToolResult(call.call_id, reason, failed=True, tool=call.tool, server=server or UNSET)
