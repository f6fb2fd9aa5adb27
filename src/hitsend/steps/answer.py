"""Step 7, answer: the model generates tokens, which become text and tool calls as they come."""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from typing import assert_never

import msgspec
from msgspec import UNSET

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
)
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    Ending,
    PromptRead,
    TextArrived,
    ToolCallArrived,
    ToolCallDropped,
)
from hitsend.messages import Sampling, ToolCall, Usage
from hitsend.send import Turn
from hitsend.tools import Tools
from hitsend.uncertainty import Uncertainty

NUM_BEGINNING_CHARS = 300


class Answer:
    """The answer of a turn: one or more rounds of generation, with tool calls between them."""

    def __init__(self, turn: Turn, num_granted: int, tools: Tools) -> None:
        self.turn = turn
        self.tools = tools
        """Tools of ours. Those of an API call are its caller's to run."""
        self.calls: list[ToolCall] = []
        """Calls of our tools in the last round."""
        self.ending: Ending = "stop"
        self.beginning = ""
        self._num_granted = num_granted
        self._num_rounds = 0
        self._has_dropped_call = False
        """In this round. The answer is not what the model meant to say: its caller is told that it
        was cut short."""
        self._usage = Usage()
        self._uncertainty = Uncertainty()

    @property
    def started_event(self) -> AnswerStarted:
        return AnswerStarted(self.turn.answer_id, self.turn.question_id, self.turn.model)

    @property
    def finished_event(self) -> AnswerFinished:
        entropy, surprisal = self._uncertainty.entropy, self._uncertainty.surprisal
        usage = msgspec.structs.replace(self._usage, entropy=entropy, surprisal=surprisal)
        return AnswerFinished(self.turn.answer_id, self.ending, usage)

    def sampling(self) -> Sampling:
        """At most the tokens that are left of the grant."""
        num_left = max(self._num_granted - self._usage.num_output_tokens, 1)
        return msgspec.structs.replace(self.turn.sampling, max_tokens=num_left)

    def begin_round(self) -> ToolCallParser | None:
        self._num_rounds += 1
        self.calls = []
        self._has_dropped_call = False
        send = self.turn.send
        names = [*self.tools, *(tool.name for tool in send.tools)]
        is_parallel = send.rules.has_parallel_calls
        return ToolCallParser(names, is_parallel=is_parallel) if names else None

    def add_tokens(self, generated: Generated, text: str) -> TextArrived:
        self._uncertainty.add(generated.tokens)
        self._add_beginning(text)
        searched = generated.num_searched_tokens
        return TextArrived(text, generated.tokens, num_searched_tokens=searched)

    def add_pieces(self, pieces: Iterable[Piece]) -> Iterator[AnyEvent]:
        """Calls of a later round are neither run nor shown: small models repeat themselves."""
        for piece in pieces:
            if isinstance(piece, str):
                self._add_beginning(piece)
                yield TextArrived(piece)
            elif self._num_rounds > 1:
                continue
            elif isinstance(piece, ToolCall):
                self.calls.append(piece)
                yield ToolCallArrived(piece)
            else:
                self._has_dropped_call |= isinstance(piece, ToolCallDropped)
                yield piece

    def finish_round(self, finished: Finished) -> None:
        is_truncated = finished.reason == "length"
        usage = msgspec.structs.replace(finished.usage, is_truncated=is_truncated)
        self._usage = usage if self._num_rounds == 1 else _add_usage(self._usage, usage)
        self.ending = finished.reason
        if self.calls and not self.tools:
            self.ending, self.calls = "tool_calls", []
        if self._has_dropped_call:
            self.ending = "length"

    def _add_beginning(self, text: str) -> None:
        if len(self.beginning) < NUM_BEGINNING_CHARS:
            self.beginning += text


async def generate(
    answer: Answer, prompt: Prompt, engine: Engine
) -> AsyncGenerator[AnyEvent, None]:
    """One round of an answer."""
    parser = answer.begin_round()
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
                    yield PromptRead(*msgspec.structs.astuple(step))
                case Finished():
                    is_cut = step.reason == "length"
                    for event in answer.add_pieces(parser.finish(is_cut=is_cut) if parser else ()):
                        yield event
                    answer.finish_round(step)
                case _:
                    assert_never(step)


def _add_usage(before: Usage, after: Usage) -> Usage:
    """Sums two rounds. The second says how the answer ended."""
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
