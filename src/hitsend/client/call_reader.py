"""Finds out what is new in the messages of tools, whether it came by deltas or in a snapshot."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from hitsend.client.responses import Message, ToolCall, ToolResult
from hitsend.client.updates import (
    ApprovalAsked,
    ApprovalDecided,
    FormAnswered,
    FormAsked,
    ToolCalled,
    ToolProgressed,
    ToolReturned,
    Update,
)
from hitsend.wire.message import STATUSES


class CallReader:
    def __init__(self) -> None:
        self._arguments: dict[str, str] = {}
        """By the id of the message of the result."""
        self._before: dict[str, ToolResult] = {}

    def read(self, message: Message, calls: Sequence[ToolCall]) -> Iterator[Update]:
        """Yields what happened since the message was read before. `calls` are those of the answer,
        among them the message's own."""
        result = message.metadata.tool_result
        if result is None:
            return
        before = self._before.get(message.id)
        if before is None:
            before = ToolResult()
            made = {call.call_id: call.arguments for call in calls}
            arguments = self._arguments[message.id] = made.get(result.call_id, "{}")
            yield ToolCalled(message.id, result.tool, result.call_id, arguments, result.server)
        self._before[message.id] = result
        if new := result.progress[len(before.progress) :]:
            yield ToolProgressed(message.id, result.tool, new)
        yield from self._read_approval(message.id, before, result)
        yield from _read_form(message.id, before, result)
        if _has_returned(message):
            yield ToolReturned(message.id, result.tool, message.text, result.failed)

    def _read_approval(
        self, message_id: str, before: ToolResult, result: ToolResult
    ) -> Iterator[Update]:
        if result.approval is None or result.approval == before.approval:
            return
        if result.approval.decision is not None:
            yield ApprovalDecided(result.call_id, result.approval.decision)
            return
        yield ApprovalAsked(
            message_id,
            result.call_id,
            result.tool,
            self._arguments[message_id],
            result.server,
            result.approval.reason,
        )


def find_undecided(path: Sequence[Message]) -> list[ApprovalAsked]:
    """Returns the calls at the end of a conversation's branch that wait for the person."""
    calls = {call.call_id: call for one in path for call in one.metadata.tool_calls}
    tools = takewhile(lambda one: one.author.role == "tool", reversed(path))
    return [
        ApprovalAsked(
            one.id,
            result.call_id,
            result.tool,
            calls[result.call_id].arguments,
            result.server,
            result.approval.reason,
        )
        for one in reversed(list(tools))
        if (result := one.metadata.tool_result) and result.approval
        if result.is_undecided and result.call_id in calls
    ]


def _read_form(message_id: str, before: ToolResult, result: ToolResult) -> Iterator[Update]:
    form = result.form
    if form is None or form == before.form:
        return
    if form.action is not None:
        yield FormAnswered(form.form_id, form.action)
    else:
        yield FormAsked(message_id, form.form_id, result.tool, form.message, form.schema)


def _has_returned(message: Message) -> bool:
    """A result is whole once its message has ended. One that has an ending of its own did not
    return: the turn ended before."""
    is_whole = message.status == STATUSES["finished"]
    return is_whole and message.metadata.finish_details is None
