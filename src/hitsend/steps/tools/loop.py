"""The rounds of calls of a turn, within its budget."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import msgspec

from hitsend.context.tool_results import ResultRoom
from hitsend.context.window import Context
from hitsend.crash import crash_here
from hitsend.errors import Refused
from hitsend.events import AnyEvent
from hitsend.messages import Message, Part, Text, ToolCall, ToolResult
from hitsend.send import Turn
from hitsend.services import Services
from hitsend.steps.tools.call_run import CallRun, EventQueue, Outcome
from hitsend.steps.tools.invalid_call import REPAIR, RefusedCall, find_problem, refuse_call
from hitsend.tools import HostedTool

MAX_CALLS = 8
"""Calls in one round. Further ones are refused: a small model repeats itself."""
LAST_ROUND = "You cannot call tools any more in this answer. Answer with what you have."
REPEATED = "You made this very call before, and its result is above. Do not repeat it."
"""Small models repeat a call instead of reading its result."""


class CallingAnswer(Protocol):
    """The answer whose calls are run."""

    last_id: str | None
    """The last message of the turn so far."""

    @property
    def calls(self) -> Sequence[ToolCall]: ...

    @property
    def tools(self) -> Mapping[str, HostedTool]: ...

    @property
    def said(self) -> list[Message]:
        """What the model has said and read before the next round."""


async def pick_tools(turn: Turn, services: Services) -> Sequence[HostedTool]:
    """Returns the tools of the features that the person turned on. Raises Refused."""
    if not turn.features:
        return ()
    tools = await services.toolbox.pick(turn.send.user_id, turn.features)
    if unknown := set(turn.features) - {tool.feature for tool in tools}:
        raise Refused(
            f"There is no feature {sorted(unknown)[0]!r} here. Turn it off, or leave it out of "
            "`system_hints`.",
            param="system_hints",
        )
    if not turn.can_call_tools:
        raise Refused(
            f"The model {turn.model} cannot use tools. Turn them off, or choose another model.",
            param="system_hints",
        )
    if taken := {tool.name for tool in turn.send.tools} & {tool.name for tool in tools}:
        raise Refused(
            f"There is a tool {min(taken)!r} among those of `system_hints`, too. Rename yours.",
            param="tools",
        )
    return tools


class ToolLoop:
    """The rounds of calls of one turn, within its budget."""

    def __init__(self, turn: Turn, context: Context, services: Services) -> None:
        self._turn = turn
        self._services = services
        self._max_rounds = services.settings.tool_rounds
        self._num_rounds = 0
        self._ms_left = services.settings.tool_time_s * 1000
        self._seen_calls: set[tuple[str, str]] = set()
        self._is_repair = False
        """The last round had a call that was not valid: this one may correct it."""
        self._room = ResultRoom(turn.num_window_tokens)
        self._has_read_strangers = has_untrusted(context.messages)
        self._context = context
        self.is_waiting = False
        """A call waits for the person, who did not answer in time: the turn ends."""

    @property
    def is_over(self) -> bool:
        """Whether a call waits for the person, or the model goes on calling after it was told that
        it cannot."""
        return self.is_waiting or self._num_rounds > self._max_rounds + 1

    @cached_property
    def _written(self) -> str:
        """What the person wrote, without the notes before it."""
        said = (one for one in self._context.messages if one.role == "user")
        return "\n".join(one.own_text for one in said)

    async def run(self, answer: CallingAnswer) -> AsyncGenerator[AnyEvent, None]:
        """Runs the calls of the last round, and adds their results to what the model has read."""
        self._num_rounds += 1
        events = EventQueue()
        runs = [await self._begin(call, answer, events) for call in answer.calls]
        for run in runs:
            yield run.started_event
        running = asyncio.gather(*(run.run() for run in runs))
        running.add_done_callback(lambda _: events.close())
        try:
            async for event in events:
                yield event
            results = await running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        crash_here("tools-ended")
        self._add_results(answer, results)

    async def _begin(
        self, call: ToolCall, answer: CallingAnswer, events: EventQueue
    ) -> CallRun | RefusedCall:
        run: CallRun | RefusedCall
        if refused := await self._find_refusal(call, answer):
            run = RefusedCall(refused, answer.last_id, events)
        else:
            run = self._build_run(call, answer, events)
        self._seen_calls.add((call.tool, call.arguments))
        answer.last_id = run.message_id
        return run

    def _build_run(self, call: ToolCall, answer: CallingAnswer, events: EventQueue) -> CallRun:
        return CallRun(
            call,
            answer.tools[call.tool],
            self._turn,
            self._services,
            events,
            parent_id=answer.last_id,
            has_read_strangers=self._has_read_strangers,
            written=self._written,
            time_left_s=self._ms_left / 1000,
        )

    async def _find_refusal(self, call: ToolCall, answer: CallingAnswer) -> ToolResult | None:
        tool = answer.tools.get(call.tool)
        if self._num_rounds > self._max_rounds or self._ms_left <= 0:
            return refuse_call(call, tool, LAST_ROUND)
        if answer.calls.index(call) >= MAX_CALLS:
            return refuse_call(call, tool, f"Only {MAX_CALLS} calls are possible at once.")
        if problem := await find_problem(call, answer.tools):
            reason = problem if self._is_repair else f"{problem} {REPAIR}"
            return msgspec.structs.replace(refuse_call(call, tool, reason), is_invalid=True)
        if (call.tool, call.arguments) in self._seen_calls:
            return refuse_call(call, tool, REPEATED)
        return None

    def _add_results(self, answer: CallingAnswer, results: Sequence[Outcome]) -> None:
        self._ms_left -= max((one.took_ms for one in results), default=0)
        self.is_waiting = any(one.result is None for one in results)
        self._note_invalid(results)
        is_last = self._num_rounds >= self._max_rounds or self._ms_left <= 0
        for one in results:
            if one.result is None:
                continue
            shown = self._room.cut(one.result)
            if is_last:
                shown = msgspec.structs.replace(shown, output=f"{shown.output}\n{LAST_ROUND}")
            answer.said.append(Message("tool", (shown,), "tool"))
        self._has_read_strangers |= has_untrusted(answer.said)

    def _note_invalid(self, results: Sequence[Outcome]) -> None:
        """A call that is not valid may be corrected once. Where the correction is not valid either,
        the model has to answer without it."""
        has_invalid = any(one.result and one.result.is_invalid for one in results)
        if has_invalid and self._is_repair:
            self._max_rounds = min(self._max_rounds, self._num_rounds)
        self._is_repair = has_invalid


def has_untrusted(messages: Sequence[Message]) -> bool:
    """Whether strangers wrote some of it: a result, or what the person attached."""
    return any(_is_untrusted(part) for message in messages for part in message.parts)


def _is_untrusted(part: Part) -> bool:
    match part:
        case ToolResult(is_untrusted=is_untrusted):
            return is_untrusted is True
        case Text(source=source):
            return source == "file"
        case _:
            return False
