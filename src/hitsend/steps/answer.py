"""Step 8, answer: the model generates tokens, which become text and tool calls as they come."""

import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import assert_never
from uuid import uuid4

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.engine import (
    Delayed,
    Engine,
    Finished,
    Generated,
    Piece,
    Prefilled,
    Prompt,
    ToolCallParser,
    end_early,
    new_call_id,
    read_tool_name,
)
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    Ending,
    PromptRead,
    TextArrived,
    ToolArgumentsArrived,
    ToolCallArrived,
    ToolCallDropped,
    ToolCallStarted,
)
from hitsend.messages import Message, Sampling, Text, ToolCall, Usage
from hitsend.send import Turn
from hitsend.tools import HostedTool
from hitsend.uncertainty import Uncertainty

NUM_BEGINNING_CHARS = 300


class Answer:
    """The answer of a turn: one or more rounds of generation, with calls of tools between them.
    Each round is a message."""

    def __init__(
        self,
        turn: Turn,
        num_granted: int,
        tools: Sequence[HostedTool] = (),
        calls: Sequence[ToolCall] = (),
    ) -> None:
        """`calls` were made by an earlier turn, and run first. Those of tools that are not at hand
        any more are dropped."""
        self.turn = turn
        self.tools = {tool.name: tool for tool in tools}
        """Tools of ours. Those of an API call are its caller's to run."""
        self.calls = [call for call in calls if call.tool in self.tools]
        """Calls of our tools in the last round."""
        self.said = [Message("assistant", tuple(self.calls))] if self.calls else []
        """What the model has said and read before the next round."""
        self.last_id = turn.question_id
        """The last message of the turn so far: the parent of the next one."""
        self.ending: Ending = "tool_calls" if self.calls else "stop"
        self.beginning = ""
        self._message_id = turn.answer_id
        self._num_rounds = 0
        self._num_granted = num_granted
        self._num_generated = 0
        self._parts: list[Text | ToolCall] = []
        """Of this round."""
        self._begun = ToolCall("", "", "")
        """The call that the model writes, or wrote last."""
        self._has_dropped_call = False
        """In this round. The answer is not what the model meant to say: its caller is told that it
        was cut short."""
        self._usage = Usage()
        self._num_decoded = 0
        """Tokens of this round that have come so far."""
        self._uncertainty = Uncertainty()
        self._thinks_since: float | None = None
        """When the first thought of this round came."""
        self._has_thought = False
        """Whether text has followed it."""

    def begin_round(self) -> AnswerStarted:
        self._message_id = str(uuid4()) if self._num_rounds else self.turn.answer_id
        self._num_rounds += 1
        self.calls, self._parts = [], []
        self._has_dropped_call = False
        self._uncertainty = Uncertainty()
        self._usage, self._num_decoded = Usage(), 0
        self._thinks_since, self._has_thought = None, False
        started = AnswerStarted(self._message_id, self.last_id, self.turn.model)
        self.last_id = self._message_id
        return started

    @property
    def finished_event(self) -> AnswerFinished:
        entropy, surprisal = self._uncertainty.entropy, self._uncertainty.surprisal
        usage = msgspec.structs.replace(self._usage, entropy=entropy, surprisal=surprisal)
        return AnswerFinished(self._message_id, self.ending, usage)

    def sampling(self) -> Sampling:
        """At most the tokens that are left of the grant."""
        num_left = max(self._num_granted - self._num_generated, 1)
        return msgspec.structs.replace(self.turn.sampling, max_tokens=num_left)

    def make_parser(self) -> ToolCallParser | None:
        send = self.turn.send
        names = [*self.tools, *(tool.name for tool in send.tools)]
        is_parallel = send.rules.has_parallel_calls
        return ToolCallParser(names, is_parallel=is_parallel) if names else None

    def add_tokens(self, generated: Generated, text: str) -> TextArrived:
        """`text` is what of the generated text is certain to be text."""
        self._uncertainty.add(generated.tokens)
        self._add_text(text)
        self._num_decoded += len(generated.tokens)
        searched = generated.num_searched_tokens
        return TextArrived(
            text,
            generated.tokens,
            num_searched_tokens=searched,
            reasoning=generated.reasoning or UNSET,
            thought_ms=self._time_thought(generated),
        )

    def _time_thought(self, generated: Generated) -> float | UnsetType:
        if generated.reasoning and self._thinks_since is None:
            self._thinks_since = time.perf_counter()
        if not generated.text or self._thinks_since is None or self._has_thought:
            return UNSET
        self._has_thought = True
        return (time.perf_counter() - self._thinks_since) * 1000

    def add_pieces(self, pieces: Iterable[Piece]) -> Iterator[AnyEvent]:
        for piece in pieces:
            if isinstance(piece, str):
                self._add_text(piece)
                yield TextArrived(piece)
            elif isinstance(piece, ToolCall):
                yield ToolCallArrived(self._add_call(piece))
            elif isinstance(piece, ToolCallStarted):
                yield self._begin_call(piece, is_hosted=piece.tool in self.tools or UNSET)
            elif isinstance(piece, ToolCallDropped):
                yield from self._drop_call(piece)
            else:
                yield self._add_arguments(piece)

    def block(self) -> None:
        """The round was stopped, and so is the answer. What was generated is paid for."""
        self.ending, self.calls = "blocked", []
        self._usage = msgspec.structs.replace(self._usage, num_output_tokens=self._num_decoded)

    def begin_decoding(self, prefilled: Prefilled) -> PromptRead:
        read = PromptRead(*msgspec.structs.astuple(prefilled))
        num_read = read.num_cached_tokens + read.num_evaluated_tokens
        self._usage = Usage(
            num_read, read.num_cached_tokens, queued_ms=read.queued_ms, prefill_ms=read.prefill_ms
        )
        return read

    def finish_round(self, finished: Finished) -> None:
        is_truncated = finished.reason == "length"
        self._usage = msgspec.structs.replace(finished.usage, is_truncated=is_truncated)
        self._num_generated += finished.usage.num_output_tokens
        self.ending = finished.reason
        if self._has_dropped_call:
            self.ending, self.calls = "length", []
        elif called := [part for part in self._parts if isinstance(part, ToolCall)]:
            self.ending = "tool_calls"
            if len(self.calls) < len(called):  # the caller of the API has to answer first
                self.calls = []
        self.said.append(Message("assistant", tuple(self._parts)))

    def _add_text(self, text: str) -> None:
        if len(self.beginning) < NUM_BEGINNING_CHARS:
            self.beginning += text
        if self.tools and text:
            match self._parts:
                case [*_, Text(text=before)]:
                    self._parts[-1] = Text(before + text)
                case _:
                    self._parts.append(Text(text))

    def _begin_call(
        self, started: ToolCallStarted, *, is_hosted: bool | UnsetType
    ) -> ToolCallStarted:
        call_id, tool = started.call_id, started.tool
        self._begun = ToolCall(call_id, tool, "", is_partial=True, is_hosted=is_hosted)
        return msgspec.structs.replace(started, is_hosted=is_hosted)

    def _drop_call(self, dropped: ToolCallDropped) -> Iterator[AnyEvent]:
        """A call that the model ended but nobody can read is told to the model, if it may have been
        meant for a tool of ours. With others the answer ends: the caller of the API decides."""
        is_begun = dropped.call_id is not UNSET
        is_ours = self._begun.is_hosted if is_begun else bool(self.tools)
        if dropped.reason == "cut" or not is_ours:
            self._has_dropped_call = True
            yield dropped
            return
        if not is_begun:
            started = ToolCallStarted(new_call_id(), read_tool_name(dropped.text))
            yield self._begin_call(started, is_hosted=True)
            yield self._add_arguments(ToolArgumentsArrived(started.call_id, dropped.text))
        yield ToolCallDropped(dropped.reason, call_id=self._begun.call_id)
        self.calls.append(self._begun)
        self._parts.append(msgspec.structs.replace(self._begun, arguments="{}"))

    def _add_arguments(self, arrived: ToolArgumentsArrived) -> ToolArgumentsArrived:
        arguments = self._begun.arguments + arrived.text
        self._begun = msgspec.structs.replace(self._begun, arguments=arguments)
        return arrived

    def _add_call(self, call: ToolCall) -> ToolCall:
        if call.tool in self.tools:
            call = msgspec.structs.replace(call, is_hosted=True)
            self.calls.append(call)
        self._parts.append(call)
        return call


async def generate(
    answer: Answer, prompt: Prompt, engine: Engine
) -> AsyncGenerator[AnyEvent, None]:
    """One round of an answer."""
    parser = answer.make_parser()
    generation = engine.generate(prompt, answer.sampling(), answer.turn.send.user_id)
    if parser and not parser.is_parallel:
        generation = end_early(generation, parser.is_over)
    async with aclosing(generation):
        async for step in generation:
            match step:
                case Generated():
                    yield answer.add_tokens(step, "" if parser else step.text)
                    for event in answer.add_pieces(parser.feed(step.text) if parser else ()):
                        yield event
                case Delayed(reason, num_ahead):
                    yield AnswerDelayed(reason, num_ahead)
                case Prefilled():
                    yield answer.begin_decoding(step)
                case Finished():
                    is_cut = step.reason == "length"
                    for event in answer.add_pieces(parser.finish(is_cut=is_cut) if parser else ()):
                        yield event
                    answer.finish_round(step)
                case _:
                    assert_never(step)
