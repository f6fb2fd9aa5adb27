"""Step 6, where tools are at hand: what the model asks for is done, and its answer goes on.

One round: what is asked for while the answer goes on is not done, and not shown. Which tools
there are, and how an answer goes on with what came of them, is the caller's to say.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import TypeAlias

import msgspec
from msgspec import UNSET

from hitsend.context.notes import Note
from hitsend.errors import Refused
from hitsend.events import (
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    ToolCallArrived,
    ToolReturned,
)
from hitsend.messages import ToolCall, ToolResult, Usage
from hitsend.tools import Done, Tools

MOST_CALLS = 4
"""Of one answer. A small model that repeats itself is not taken at its word."""


Answering: TypeAlias = AsyncGenerator[AnyEvent, None]
GoOn: TypeAlias = Callable[[Sequence[Note], Usage], Awaitable[Answering]]
"""Another answer to the same question, with such notes and what was used so far."""


async def use_tools(answering: Answering, tools: Tools, go_on: GoOn) -> Answering:
    calls: list[ToolCall] = []
    used = Usage()
    async with aclosing(answering):
        async for event in answering:
            if isinstance(event, ToolCallArrived):
                calls.append(event.call)
            if calls and isinstance(event, AnswerFinished):
                used = event.usage
            else:
                yield event
    if not calls:
        return

    notes: list[Note] = []
    for call in calls[:MOST_CALLS]:
        done, result = await _used(call, tools)
        notes += done.notes
        yield ToolReturned(result)
        for told in done.events:
            yield told

    async with aclosing(await go_on(notes, used)) as going_on:
        async for event in going_on:
            for told in _continued(event, used):
                yield told


async def _used(call: ToolCall, tools: Tools) -> tuple[Done, ToolResult]:
    try:
        done = await tools[call.tool](call)
    except Refused as problem:
        return Done(problem.message), ToolResult(call.call_id, problem.message, failed=True)
    return done, ToolResult(call.call_id, done.output)


def _continued(event: AnyEvent, before: Usage) -> Iterator[AnyEvent]:
    """As part of the answer that was begun."""
    match event:
        case AnswerStarted() | ToolCallArrived():
            return
        case AnswerFinished(message_id=message_id, ending=ending, usage=usage):
            is_over = "stop" if ending == "tool_calls" else ending
            yield AnswerFinished(message_id, is_over, _both(before, usage))
        case _:
            yield event


def _both(before: Usage, after: Usage) -> Usage:
    """Two readings and two writings, of which the second says how it went."""
    searched = (before.num_searched_tokens or 0) + (after.num_searched_tokens or 0)
    return msgspec.structs.replace(
        after,
        num_input_tokens=before.num_input_tokens + after.num_input_tokens,
        num_cached_tokens=before.num_cached_tokens + after.num_cached_tokens,
        num_output_tokens=before.num_output_tokens + after.num_output_tokens,
        queued_ms=before.queued_ms + after.queued_ms,
        prefill_ms=before.prefill_ms + after.prefill_ms,
        decode_ms=before.decode_ms + after.decode_ms,
        num_searched_tokens=searched or UNSET,
    )
