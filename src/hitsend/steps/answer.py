"""Step 6. Tokens in, words out, as they come."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import assert_never

import msgspec

from hitsend.engine import (
    Delayed,
    Engine,
    Finished,
    Generated,
    Generation,
    Prompt,
    PromptWasRead,
    ToolCallParser,
    tool_schema,
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
)
from hitsend.messages import Sampling, ToolCall, Usage
from hitsend.send import Turn
from hitsend.uncertainty import Uncertainty


async def answer(
    turn: Turn, prompt: Prompt, num_granted: int, engine: Engine, tools: Sequence[str] = ()
) -> AsyncGenerator[AnyEvent, None]:
    """`tools` of ours may be called too, besides those that were sent along."""
    yield AnswerStarted(turn.answer_id, turn.question_id, turn.model)
    hearing = _Hearing(turn, tools)
    async with aclosing(
        engine.generate(prompt, _fitted(turn, num_granted), turn.send.user_id)
    ) as generation:
        async for step in generation:
            for event in hearing.events(step):
                yield event


def _fitted(turn: Turn, num_granted: int) -> Sampling:
    """At most as many tokens as were granted; a call of a tool, where it must be one."""
    must_call = turn.send.must_call
    schema = tool_schema(turn.send.tools, "required") if must_call else turn.sampling.json_schema
    return msgspec.structs.replace(turn.sampling, max_tokens=num_granted, json_schema=schema)


def _arrived(said: Generated, text: str) -> TextArrived:
    return TextArrived(text, said.tokens, num_searched_tokens=said.num_searched_tokens)


class _Hearing:
    """What the engine says, as events. With tools on offer, calls are told from text."""

    def __init__(self, turn: Turn, tools: Sequence[str]) -> None:
        self._answer_id = turn.answer_id
        names = [*tools, *(tool.name for tool in turn.send.tools)]
        self._calls = ToolCallParser(names) if names else None
        self._num_calls = 0
        self._uncertainty = Uncertainty()

    def events(self, step: Generation) -> Iterator[AnyEvent]:
        match step:
            case Delayed(reason, num_ahead):
                yield AnswerDelayed(reason, num_ahead)
            case PromptWasRead():
                yield PromptRead(*msgspec.structs.astuple(step))
            case Generated():
                yield from self._heard(step)
            case Finished():
                yield from self._finished(step)
            case _:
                assert_never(step)

    def _heard(self, said: Generated) -> Iterator[AnyEvent]:
        self._uncertainty.hear(said.tokens)
        if self._calls is None:
            yield _arrived(said, said.text)
            return
        yield _arrived(said, "")
        yield from self._told_apart(self._calls.feed(said.text))

    def _finished(self, finished: Finished) -> Iterator[AnyEvent]:
        if self._calls is not None:
            yield from self._told_apart(self._calls.finish())
        ending: Ending = "tool_calls" if self._num_calls else finished.reason
        yield AnswerFinished(self._answer_id, ending, self._usage(finished))

    def _usage(self, finished: Finished) -> Usage:
        return msgspec.structs.replace(
            finished.usage,
            entropy=self._uncertainty.entropy,
            surprisal=self._uncertainty.surprisal,
            is_truncated=finished.reason == "length",
        )

    def _told_apart(self, pieces: Iterable[str | ToolCall]) -> Iterator[AnyEvent]:
        for piece in pieces:
            if isinstance(piece, ToolCall):
                self._num_calls += 1
                yield ToolCallArrived(piece)
            else:
                yield TextArrived(piece)
