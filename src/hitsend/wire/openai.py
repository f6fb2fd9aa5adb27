"""A turn in OpenAI's shapes: a chat completion, in chunks or whole, and the list of models.

Only what goes out; `openai_request` reads what comes in.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

import msgspec
from msgspec import UNSET

from hitsend import transcript
from hitsend.errors import HitsendError, Unavailable
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    ContextBuilt,
    Ending,
    MemoriesChanged,
    MessageAdded,
    PromptEncoded,
    PromptRead,
    PromptWarmed,
    Stamped,
    TextArrived,
    TitleChosen,
    ToolCallArrived,
    ToolReturned,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from hitsend.messages import Token, ToolCall, Usage
from hitsend.transcript import Transcript
from hitsend.wire import openai_shapes as shapes
from hitsend.wire.coalesce import coalesced
from hitsend.wire.message import tool_calls
from hitsend.wire.outline import Outline
from hitsend.wire.problem import error_of, problem
from hitsend.wire.sse import frame

FINISH: dict[Ending | None, shapes.FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "stopped": "stop",
}

UNLIKELY = -9999.0
"""What OpenAI says of a token whose probability is not known."""


class ChunkView:
    """`num_logprobs` is how many alternatives to show for each token; None shows no
    probabilities at all."""

    def __init__(self, *, include_usage: bool = False, num_logprobs: int | None = None) -> None:
        self._include_usage = include_usage
        self._num_logprobs = num_logprobs
        self._outline = Outline()

    def encode(self, batch: Sequence[Stamped]) -> bytes:
        return b"".join(self.pieces(batch))

    def pieces(self, batch: Sequence[Stamped]) -> Iterator[bytes]:
        """The same, little by little: what is not asked for is not made yet."""
        return (piece for stamped in coalesced(batch) for piece in self._pieces(stamped.event))

    def _pieces(self, event: AnyEvent) -> list[bytes]:
        is_end = self._outline.take(event)
        match event:
            case TextArrived():
                return self._text(event)
            case AnswerStarted():
                return [self._chunk(shapes.Delta(role="assistant", content=""))]
            case ToolCallArrived(call=call):
                return [self._call(call)]
            case AnswerFinished():
                return self._finished() if is_end else []
            case TurnFinished() | TurnFailed():
                return self._ended(is_end)
            case TurnStarted() | ContextBuilt() | PromptEncoded() | TurnAccepted():
                return []
            case PromptWarmed() | MessageAdded() | AnswerDelayed() | PromptRead() | TitleChosen():
                return []
            case MemoriesChanged() | ToolReturned():
                return []
            case _:
                assert_never(event)

    def _text(self, event: TextArrived) -> list[bytes]:
        logprobs = _logprobs(event.tokens, self._num_logprobs)
        if not event.text and not (logprobs and logprobs.content):
            return []
        return [self._chunk(shapes.Delta(content=event.text), logprobs=logprobs)]

    def _call(self, call: ToolCall) -> bytes:
        index = len(tool_calls(self._outline.last)) - 1
        function = shapes.Function(call.tool, call.arguments)
        chunk = shapes.FunctionCallChunk(call.call_id, function, index=index)
        return self._chunk(shapes.Delta(tool_calls=(chunk,)))

    def _ended(self, is_open: bool) -> list[bytes]:
        if error := _error_of(self._outline.transcript):
            return [frame(_json({"error": problem(error)}))]
        return self._finished() if is_open else []

    def _finished(self) -> list[bytes]:
        said = self._outline.last
        if said.ending not in FINISH:
            return []  # the error that follows is what ends the stream
        finish = self._chunk(shapes.Delta(), finish_reason=FINISH[said.ending])
        if not self._include_usage:
            return [finish]
        return [finish, self._framed((), _usage(said.usage or Usage()))]

    def _chunk(
        self,
        delta: shapes.Delta,
        finish_reason: shapes.FinishReason | None = None,
        logprobs: shapes.Logprobs | None = None,
    ) -> bytes:
        choice = shapes.ChunkChoice(delta, logprobs=logprobs, finish_reason=finish_reason)
        return self._framed((choice,), None if self._include_usage else UNSET)

    def _framed(
        self,
        choices: tuple[shapes.ChunkChoice, ...],
        usage: shapes.CompletionUsage | msgspec.UnsetType | None,
    ) -> bytes:
        turn = self._outline.turn
        chunk = shapes.Chunk(_id(turn), int(turn.created_at), turn.model, choices, usage)
        return frame(_json(chunk))


def completion(log: Sequence[Stamped], num_logprobs: int | None = None) -> shapes.Completion:
    """The whole answer of a turn that has ended. Raises what the turn failed with."""
    events = [stamped.event for stamped in coalesced(log, max_chars=None)]
    said = transcript.fold(events)
    if error := _error_of(said):
        raise error
    turn = next(event for event in events if isinstance(event, TurnStarted))
    answer = said.messages[-1]
    calls = tuple(
        shapes.FunctionCall(call.call_id, shapes.Function(call.tool, call.arguments))
        for call in tool_calls(answer)
    )
    message = shapes.AnswerMessage(answer.text or (None if calls else ""), calls or UNSET)
    arrivals = (event.tokens for event in events if isinstance(event, TextArrived))
    logprobs = _logprobs([token for tokens in arrivals for token in tokens], num_logprobs)
    return shapes.Completion(
        _id(turn),
        int(turn.created_at),
        turn.model,
        (shapes.Choice(message, FINISH[answer.ending], logprobs),),
        _usage(answer.usage or Usage()),
    )


def models_list(names: Iterable[str], created: int) -> shapes.ModelList:
    return shapes.ModelList(tuple(shapes.Model(name, created) for name in names))


def _error_of(said: Transcript) -> HitsendError | None:
    """Why a turn that goes on no more has no whole answer, if it has none."""
    if said.failure:
        return error_of(said.failure)
    has_answer = said.messages and said.messages[-1].role == "assistant"
    if said.ending in (None, "interrupted") or not has_answer:
        return Unavailable("The answer was cut short. Ask again.")
    return None


def _logprobs(tokens: Sequence[Token], num_logprobs: int | None) -> shapes.Logprobs | None:
    if num_logprobs is None:
        return None
    return shapes.Logprobs(tuple(_logprob(token, num_logprobs) for token in tokens))


def _logprob(token: Token, num_logprobs: int) -> shapes.TokenLogprob:
    return shapes.TokenLogprob(
        token.text,
        UNLIKELY if token.logprob is None else token.logprob,
        tuple(token.text.encode()),
        tuple(
            shapes.TopLogprob(other.text, other.logprob, tuple(other.text.encode()))
            for other in token.top[:num_logprobs]
        ),
    )


def _usage(usage: Usage) -> shapes.CompletionUsage:
    return shapes.CompletionUsage(
        usage.num_input_tokens,
        usage.num_output_tokens,
        usage.num_input_tokens + usage.num_output_tokens,
        shapes.CachedTokens(usage.num_cached_tokens),
    )


def _id(turn: TurnStarted) -> str:
    return f"chatcmpl-{turn.turn_id}"


_json = msgspec.json.Encoder().encode
