"""Encodes a turn as an OpenAI chat completion, streamed or whole, and the list of models.

`openai_request` parses the requests.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import assert_never

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from hitsend import transcript
from hitsend.errors import HitsendError, Unavailable
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerGuarded,
    AnswerStarted,
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    ContextBuilt,
    Ending,
    FormAnswered,
    FormShown,
    MemoriesChanged,
    MessageAdded,
    MessageScreened,
    PromptEncoded,
    PromptRead,
    PromptWarmed,
    Stamped,
    TextArrived,
    TitleChosen,
    ToolArgumentsArrived,
    ToolCallArrived,
    ToolCallDropped,
    ToolCallStarted,
    ToolProgressed,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from hitsend.messages import Token, ToolCall, Usage
from hitsend.sse import encode_frame
from hitsend.transcript import FoldedMessage, Transcript
from hitsend.wire import openai_response as response
from hitsend.wire.coalesce import coalesce_text
from hitsend.wire.message import get_tool_calls
from hitsend.wire.problem import ErrorBody, describe_error, error_from_failure
from hitsend.wire.side_events import StoreDelayed
from hitsend.wire.textless_fold import TextlessFold

FINISH_REASONS: dict[Ending | None, response.FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "stopped": "stop",
    "blocked": "content_filter",
}

ROUND_BREAK = "\n\n"
"""Between what was said before calls of our tools and after them."""

UNKNOWN_LOGPROB = -9999.0
"""OpenAI's value for a token whose probability is not known."""


class ChunkView:
    """`num_logprobs` is the number of alternatives per token; None shows no probabilities."""

    def __init__(self, *, include_usage: bool = False, num_logprobs: int | None = None) -> None:
        self._include_usage = include_usage
        self._num_logprobs = num_logprobs
        self._fold = TextlessFold()
        self._num_calls = 0
        self._has_text = False
        self._is_role_sent = False

    def encode(self, batch: Sequence[Stamped]) -> bytes:
        if len(batch) == 1:  # a reader who keeps up gets one token at a time
            return b"".join(self._event_chunks(batch[0].event))
        return b"".join(self.encode_chunks(batch))

    def encode_chunks(self, batch: Sequence[Stamped]) -> Iterator[bytes]:
        """Encodes lazily: a chunk that nobody asks for is not made."""
        return (
            chunk for stamped in coalesce_text(batch) for chunk in self._event_chunks(stamped.event)
        )

    def encode_delay(self, delay: StoreDelayed) -> bytes:
        return b""  # SDKs take no events but chunks

    def _event_chunks(self, event: AnyEvent) -> list[bytes]:
        self._fold.apply(event)
        match event:
            case TextArrived():
                return self._text_chunks(event)
            case AnswerStarted():
                return self._start_chunks()
            case ToolCallStarted(call_id=call_id, tool=tool, is_hosted=is_hosted):
                return [] if is_hosted else [self._first_call_chunk(ToolCall(call_id, tool, ""))]
            case ToolArgumentsArrived(call_id=call_id, text=text):
                return self._argument_chunks(call_id, text)
            case ToolCallArrived(call=call):
                is_new = len(_own_calls(self._fold.last_message)) > self._num_calls
                return [self._first_call_chunk(call)] if is_new else []
            case TurnFinished() | TurnFailed():
                return self._turn_end_chunks()
            case AnswerFinished():
                return []
            case TurnStarted() | ContextBuilt() | PromptEncoded() | TurnAccepted():
                return []
            case PromptWarmed() | MessageAdded() | AnswerDelayed() | PromptRead() | TitleChosen():
                return []
            case MemoriesChanged() | ToolCallDropped() | MessageScreened() | AnswerGuarded():
                return []
            case ToolStarted() | ToolProgressed() | ToolReturned():
                return []
            case ApprovalRequested() | ApprovalDecided() | FormShown() | FormAnswered():
                return []
            case _:
                assert_never(event)

    def _start_chunks(self) -> list[bytes]:
        """Rounds of an answer, with calls of our tools between them, are paragraphs to the
        caller."""
        if not self._is_role_sent:
            self._is_role_sent = True
            return [self._chunk(response.Delta(role="assistant", content=""))]
        if not self._has_text:
            return []
        self._has_text = False
        return [self._chunk(response.Delta(content=ROUND_BREAK))]

    def _text_chunks(self, event: TextArrived) -> list[bytes]:
        self._has_text |= bool(event.text)
        if event.reasoning:
            thought = self._chunk(response.Delta(reasoning_content=event.reasoning))
            return [thought, *self._text_chunks(replace(event, reasoning=UNSET))]
        logprobs = _build_logprobs(event.tokens, self._num_logprobs)
        if not event.text and not (logprobs and logprobs.content):
            return []
        if logprobs is None:
            before, after = self._around_text
            return [b"%b%b%b" % (before, _encode_json(event.text), after)]
        return [self._chunk(response.Delta(content=event.text), logprobs=logprobs)]

    @cached_property
    def _around_text(self) -> tuple[bytes, bytes]:
        """What is before and after the text in a chunk: the same for every token of an answer."""
        before, name, after = self._chunk(response.Delta(content="")).partition(b'"content":')
        return before + name, after.removeprefix(b'""')

    def _first_call_chunk(self, call: ToolCall) -> bytes:
        function = response.FunctionPiece(call.arguments, call.tool)
        index, self._num_calls = self._num_calls, self._num_calls + 1
        return self._call_chunk(
            response.FunctionCallPiece(index, function, call.call_id, "function")
        )

    def _argument_chunks(self, call_id: str, text: str) -> list[bytes]:
        if call_id not in [call.call_id for call in _own_calls(self._fold.last_message)]:
            return []
        function = response.FunctionPiece(text)
        return [self._call_chunk(response.FunctionCallPiece(self._num_calls - 1, function))]

    def _call_chunk(self, piece: response.FunctionCallPiece) -> bytes:
        return self._chunk(response.Delta(tool_calls=(piece,)))

    def _turn_end_chunks(self) -> list[bytes]:
        folded = self._fold.transcript
        if error := _find_error(folded):
            return [encode_frame(_encode_json(ErrorBody(describe_error(error))))]
        finish = self._chunk(response.Delta(), finish_reason=_finish_reason(folded))
        if not self._include_usage:
            return [finish]
        return [finish, self._encode((), _build_usage(transcript.sum_usage(folded) or Usage()))]

    def _chunk(
        self,
        delta: response.Delta,
        finish_reason: response.FinishReason | None = None,
        logprobs: response.Logprobs | None = None,
    ) -> bytes:
        choice = response.ChunkChoice(delta, logprobs=logprobs, finish_reason=finish_reason)
        return self._encode((choice,), None if self._include_usage else UNSET)

    def _encode(
        self,
        choices: tuple[response.ChunkChoice, ...],
        usage: response.CompletionUsage | msgspec.UnsetType | None,
    ) -> bytes:
        turn = self._fold.turn
        chunk = response.Chunk(
            _completion_id(turn), int(turn.created_at), turn.model, choices, usage
        )
        return encode_frame(_encode_json(chunk))


def build_completion(
    log: Sequence[Stamped], num_logprobs: int | None = None
) -> response.Completion:
    """Returns the whole answer of an ended turn. Raises the error the turn failed with."""
    events = [stamped.event for stamped in coalesce_text(log, max_chars=None)]
    folded = transcript.fold(events)
    if error := _find_error(folded):
        raise error
    turn = next(event for event in events if isinstance(event, TurnStarted))
    answers = [one for one in folded.messages if one.role == "assistant"]
    calls = tuple(
        response.FunctionCall(call.call_id, response.Function(call.tool, call.arguments))
        for call in _own_calls(answers[-1])
        if not call.is_partial
    )
    text = ROUND_BREAK.join(answer.text for answer in answers if answer.text)
    arrivals = [event for event in events if isinstance(event, TextArrived)]
    thoughts = ROUND_BREAK.join(one.reasoning for one in arrivals if one.reasoning)
    message = response.AnswerMessage(
        text or (None if calls else ""), calls or UNSET, reasoning_content=thoughts or UNSET
    )
    logprobs = _build_logprobs([token for one in arrivals for token in one.tokens], num_logprobs)
    return response.Completion(
        _completion_id(turn),
        int(turn.created_at),
        turn.model,
        (response.Choice(message, _finish_reason(folded), logprobs),),
        _build_usage(transcript.sum_usage(folded) or Usage()),
    )


def build_model_list(names: Iterable[str], created: int) -> response.ModelList:
    return response.ModelList(tuple(response.Model(name, created) for name in names))


def _own_calls(answer: FoldedMessage) -> list[ToolCall]:
    """Returns the calls that the caller has to run."""
    return [call for call in get_tool_calls(answer) if not call.is_hosted]


def _finish_reason(folded: Transcript) -> response.FinishReason:
    """An answer that went on calling our tools until it was stopped was cut short."""
    answer, ending = folded.messages[-1], folded.ending
    if ending == "tool_calls" and not (answer.role == "assistant" and _own_calls(answer)):
        return "length"
    assert ending is not None
    return FINISH_REASONS[ending]


def _find_error(folded: Transcript) -> HitsendError | None:
    """Returns why an ended turn has no whole answer; None if it has one."""
    if folded.failure:
        return error_from_failure(folded.failure)
    is_whole = folded.ending in FINISH_REASONS
    if not is_whole or transcript.last_answer_index(folded) is None:
        return Unavailable("The answer was cut short. Ask again.")
    return None


def _build_logprobs(tokens: Sequence[Token], num_logprobs: int | None) -> response.Logprobs | None:
    if num_logprobs is None:
        return None
    return response.Logprobs(tuple(_build_logprob(token, num_logprobs) for token in tokens))


def _build_logprob(token: Token, num_logprobs: int) -> response.TokenLogprob:
    return response.TokenLogprob(
        token.text,
        UNKNOWN_LOGPROB if token.logprob is None else token.logprob,
        tuple(token.text.encode()),
        tuple(
            response.TopLogprob(other.text, other.logprob, tuple(other.text.encode()))
            for other in token.top[:num_logprobs]
        ),
    )


def _build_usage(usage: Usage) -> response.CompletionUsage:
    return response.CompletionUsage(
        usage.num_input_tokens,
        usage.num_output_tokens,
        usage.num_input_tokens + usage.num_output_tokens,
        response.CachedTokens(usage.num_cached_tokens),
    )


def _completion_id(turn: TurnStarted) -> str:
    return f"chatcmpl-{turn.turn_id}"


_encode_json = msgspec.json.Encoder().encode
