"""The client of llama.cpp's `/completion`: token ids in, tokens out.

The server holds back tokens until they complete a character, and then sends only the id of the
last one. `_CompletionStream` notices the gap in the count and restores the missing ids.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from hitsend.engine.contract import Finished, Generated, GenerationStep, Prefilled
from hitsend.engine.http import HttpClient
from hitsend.engine.llama.completion_request import prefill_request, schema_request
from hitsend.engine.upstream_errors import Problem, log_problem, require_ok
from hitsend.errors import EngineLost
from hitsend.messages import UNKNOWN_ID, Alternative, Token, Usage
from hitsend.sse import SseDataReader

TokenizeText: TypeAlias = Callable[[str], Awaitable[tuple[int, ...]]]

REPLACEMENT = "\ufffd"
MASKED_LOGPROB = -9999.0
"""Stands for minus infinity, the logprob of a masked token, which JSON cannot write."""


class _Progress(msgspec.Struct, frozen=True, gc=False):
    total: int
    cache: int
    processed: int
    time_ms: float


class _TokenProb(msgspec.Struct, frozen=True, gc=False):
    id: int
    logprob: float | None
    token: str = ""
    top_logprobs: tuple["_TokenProb", ...] = ()


class _Timings(msgspec.Struct, frozen=True, gc=False):
    cache_n: int = 0
    prompt_ms: float | None = 0.0
    predicted_ms: float | None = 0.0


class _Chunk(msgspec.Struct, frozen=True, gc=False):
    """The fields that are used: msgspec skips the others without building them."""

    content: str = ""
    tokens: tuple[int, ...] = ()
    tokens_predicted: int = 0
    tokens_evaluated: int = 0
    prompt_progress: _Progress | None = None
    completion_probabilities: tuple[_TokenProb, ...] = ()
    stop: bool = False
    stop_type: str = ""
    timings: _Timings | None = None
    error: Problem | None = None


_decode = msgspec.json.Decoder(_Chunk).decode

READ_INTERVAL_S = 1 / 25
"""Text that arrives 25 times a second looks smooth. Reading each token by itself woke this process
100 times a second on the cores that decode, and cost 8 % of their speed. The intervals of all
answers are aligned, so that they are read, stored and sent together."""


async def complete(
    http: HttpClient, request: bytes, requested_at: float, tokenize_text: TokenizeText
) -> AsyncGenerator[GenerationStep, None]:
    """Yields one step for each network read. Closing the generator frees the slot."""
    completion, reader = _CompletionStream(requested_at, tokenize_text), SseDataReader()
    async with http.stream("POST", "/completion", request) as stream:
        await require_ok(stream)
        while data := await stream.read():
            for step in await completion.feed(reader.feed(data)):
                yield step
                if isinstance(step, Generated):
                    await stream.wait_for_tick(READ_INTERVAL_S)
    if not completion.has_finished:
        raise EngineLost("The engine stopped in the middle of its answer.")


async def can_enforce_schema(http: HttpClient, json_schema: str, token_id: int) -> bool:
    """Whether llama.cpp can force an answer to follow this schema. `token_id` is a token that no
    JSON starts with: llama.cpp generates it only if it ignores the schema."""
    response = await http.request("POST", "/completion", schema_request(json_schema, token_id))
    if response.status != 200:
        return False
    return token_id not in msgspec.json.decode(response.body, type=_Chunk).tokens


async def prefill(http: HttpClient, ids: tuple[int, ...]) -> Prefilled:
    """Evaluates a prompt and generates nothing. Cancelling frees the slot."""
    requested_at, reader, timings = time.perf_counter(), SseDataReader(), _Timings()
    request = prefill_request(ids)
    async with http.stream("POST", "/completion", request, starts_answer=False) as stream:
        await require_ok(stream)
        while data := await stream.read():
            for chunk in map(_parse_chunk, reader.feed(data)):
                timings = chunk.timings or timings
    took_ms = round((time.perf_counter() - requested_at) * 1000, 1)
    return Prefilled(timings.cache_n, len(ids) - timings.cache_n, 0.0, took_ms)


class _CompletionStream:
    """Turns the chunks of one completion into generation steps."""

    def __init__(self, requested_at: float, tokenize_text: TokenizeText) -> None:
        self.has_finished = False
        self._requested_at = requested_at
        self._tokenize_text = tokenize_text
        self._queued_ms: float | None = None
        self._is_prefilled = False
        self._num_tokens = 0

    async def feed(self, values: Sequence[bytes]) -> list[GenerationStep]:
        at_ms = round((time.perf_counter() - self._requested_at) * 1000, 1)
        steps: list[GenerationStep] = []
        tokens: list[Token] = []
        for chunk in map(_parse_chunk, values):
            if self._queued_ms is None:
                self._queued_ms = at_ms
            if progress := chunk.prompt_progress:
                if progress.processed >= progress.total:
                    steps.append(self._prefilled(progress))
                continue
            if not self._is_prefilled:  # a server that reports no progress
                steps.append(self._prefilled(_Progress(chunk.tokens_evaluated, 0, 0, at_ms)))
            num_missing = chunk.tokens_predicted - self._num_tokens - len(chunk.tokens)
            self._num_tokens = chunk.tokens_predicted
            if chunk.stop:
                if chunk.stop_type == "limit":
                    tokens += _incomplete_character(num_missing, at_ms)
                return [*steps, *_generated(tokens), self._finish(chunk)]
            if num_missing > 0:
                ids = await self._missing_ids(chunk, num_missing)
                tokens += [Token(token_id, "", None, at_ms) for token_id in ids]
            if chunk.tokens:
                tokens.append(_token(chunk, at_ms))
        return [*steps, *_generated(tokens)]

    def _prefilled(self, progress: _Progress) -> Prefilled:
        self._is_prefilled = True
        num_evaluated = progress.total - progress.cache
        return Prefilled(progress.cache, num_evaluated, self._queued_ms or 0.0, progress.time_ms)

    async def _missing_ids(self, chunk: _Chunk, num_missing: int) -> tuple[int, ...]:
        """Returns the ids before the one that completed the character, or UNKNOWN_ID for each if
        tokenizing the text gives other ids."""
        ids = await self._tokenize_text(chunk.content)
        if ids[num_missing:] == chunk.tokens:
            return ids[:num_missing]
        return (UNKNOWN_ID,) * num_missing

    def _finish(self, chunk: _Chunk) -> Finished:
        self.has_finished = True
        timings = chunk.timings or _Timings()
        return Finished(
            "length" if chunk.stop_type == "limit" else "stop",
            Usage(
                num_input_tokens=chunk.tokens_evaluated,
                num_cached_tokens=timings.cache_n,
                num_output_tokens=chunk.tokens_predicted,
                queued_ms=self._queued_ms or 0.0,
                prefill_ms=timings.prompt_ms or 0.0,
                decode_ms=timings.predicted_ms or 0.0,
            ),
        )


def _parse_chunk(value: bytes) -> _Chunk:
    try:
        chunk = _decode(value)
    except msgspec.DecodeError as error:
        raise EngineLost("The engine sent an invalid chunk.") from error
    if chunk.error is not None:
        log_problem("failed", chunk.error)
        raise EngineLost("The engine failed in the middle of its answer.")
    return chunk


def _token(chunk: _Chunk, at_ms: float) -> Token:
    if not chunk.completion_probabilities:
        return Token(chunk.tokens[-1], chunk.content, None, at_ms)
    likely = chunk.completion_probabilities[-1]
    top = [
        Alternative(one.id, one.token, MASKED_LOGPROB if one.logprob is None else one.logprob)
        for one in likely.top_logprobs
    ]
    return Token(likely.id, chunk.content, likely.logprob, at_ms, tuple(top))


def _incomplete_character(num_missing: int, at_ms: float) -> list[Token]:
    """Returns the missing tokens of an answer that reached its limit within a character."""
    if num_missing <= 0:
        return []
    missing = [Token(UNKNOWN_ID, "", None, at_ms) for _ in range(num_missing - 1)]
    return [*missing, Token(UNKNOWN_ID, REPLACEMENT, None, at_ms)]


def _generated(tokens: list[Token]) -> list[Generated]:
    if not tokens:
        return []
    return [Generated("".join([token.text for token in tokens]), tuple(tokens))]
