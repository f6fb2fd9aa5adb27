"""llama.cpp's `/completion`: token ids in, tokens out. Knows the wire, not who is asking.

The server holds back tokens until they complete a character and then tells only the last of
them. `_Hearing` notices by the count, and puts the others back.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from hitsend.engine.completion_request import prefill_request, schema_request
from hitsend.engine.contract import Finished, Generated, Generation, PromptWasRead
from hitsend.engine.http import Http
from hitsend.engine.sse import SseReader
from hitsend.engine.upstream import Problem, require_ok
from hitsend.errors import EngineLost
from hitsend.messages import UNTOLD, Alternative, Token, Usage

IdsOfText: TypeAlias = Callable[[str], Awaitable[tuple[int, ...]]]

REPLACEMENT = "\ufffd"
IMPOSSIBLE = -9999.0
"""The logprob of what a mask made impossible, which JSON cannot write."""


class _Progress(msgspec.Struct, frozen=True, gc=False):
    total: int
    cache: int
    processed: int
    time_ms: float


class _Likely(msgspec.Struct, frozen=True):
    id: int
    logprob: float | None
    token: str = ""
    top_logprobs: tuple["_Likely", ...] = ()


class _Timings(msgspec.Struct, frozen=True, gc=False):
    cache_n: int = 0
    prompt_ms: float | None = 0.0
    predicted_ms: float | None = 0.0


class _Chunk(msgspec.Struct, frozen=True):
    """Of a chunk only what is used: the rest is skipped without being built."""

    content: str = ""
    tokens: tuple[int, ...] = ()
    tokens_predicted: int = 0
    tokens_evaluated: int = 0
    prompt_progress: _Progress | None = None
    completion_probabilities: tuple[_Likely, ...] = ()
    stop: bool = False
    stop_type: str = ""
    timings: _Timings | None = None
    error: Problem | None = None


_decode = msgspec.json.Decoder(_Chunk).decode

BEAT_S = 1 / 25
"""Text twenty-five times a second is as smooth as film. Reading each token by itself woke this
process a hundred times a second, on the very cores that decode, and cost 8 % of their speed.
All answers share the beat, so that they are read, stored and shown together."""


async def complete(
    http: Http, request: bytes, asked_at: float, ids_of_text: IdsOfText
) -> AsyncGenerator[Generation, None]:
    """Everything that arrives in one read is one step. Leaving early frees the slot."""
    hearing, reader = _Hearing(asked_at, ids_of_text), SseReader()
    async with http.stream("POST", "/completion", request) as stream:
        await require_ok(stream)
        while data := await stream.read():
            for step in await hearing.heard(reader.feed(data)):
                yield step
                if isinstance(step, Generated):
                    await stream.rest(BEAT_S - time.monotonic() % BEAT_S)
    if not hearing.has_finished:
        raise EngineLost("The engine stopped in the middle of its answer.")


async def follows_schema(http: Http, json_schema: str, token_id: int) -> bool:
    """Whether llama.cpp can hold an answer to this schema. It ignores one that it cannot."""
    answer = await http.request("POST", "/completion", schema_request(json_schema, token_id))
    if answer.status != 200:
        return False
    return token_id not in msgspec.json.decode(answer.body, type=_Chunk).tokens


async def prefill(http: Http, ids: tuple[int, ...]) -> PromptWasRead:
    """Has a prompt read and nothing said. Leaving early frees the slot."""
    asked_at, reader, found = time.perf_counter(), SseReader(), _Timings()
    num_tokens = len(ids)
    async with http.stream("POST", "/completion", prefill_request(ids)) as stream:
        await require_ok(stream)
        while data := await stream.read():
            for chunk in map(_chunk, reader.feed(data)):
                found = chunk.timings or found
    took_ms = round((time.perf_counter() - asked_at) * 1000, 1)
    return PromptWasRead(found.cache_n, num_tokens - found.cache_n, 0.0, took_ms)


class _Hearing:
    """What llama.cpp says, chunk by chunk, as what an engine says."""

    def __init__(self, asked_at: float, ids_of_text: IdsOfText) -> None:
        self.has_finished = False
        self._asked_at = asked_at
        self._ids_of_text = ids_of_text
        self._queued_ms: float | None = None
        self._was_read = False
        self._num_tokens = 0

    async def heard(self, values: Sequence[bytes]) -> list[Generation]:
        at_ms = round((time.perf_counter() - self._asked_at) * 1000, 1)
        steps: list[Generation] = []
        tokens: list[Token] = []
        for chunk in map(_chunk, values):
            if self._queued_ms is None:
                self._queued_ms = at_ms
            if progress := chunk.prompt_progress:
                if progress.processed >= progress.total:
                    steps.append(self._read_prompt(progress))
                continue
            if not self._was_read:  # a server that does not tell how it gets on
                steps.append(self._read_prompt(_Progress(chunk.tokens_evaluated, 0, 0, at_ms)))
            tokens += await self._tokens(chunk, at_ms)
            if chunk.stop:
                steps += _generated(tokens)
                steps.append(self._finish(chunk))
                return steps
        return steps + _generated(tokens)

    def _read_prompt(self, progress: _Progress) -> PromptWasRead:
        self._was_read = True
        num_evaluated = progress.total - progress.cache
        return PromptWasRead(
            progress.cache, num_evaluated, self._queued_ms or 0.0, progress.time_ms
        )

    async def _tokens(self, chunk: _Chunk, at_ms: float) -> list[Token]:
        num_untold = chunk.tokens_predicted - self._num_tokens - len(chunk.tokens)
        self._num_tokens = chunk.tokens_predicted
        if chunk.stop:
            return _broken_off(num_untold, at_ms) if chunk.stop_type == "limit" else []
        tokens = [_token(chunk, at_ms)] if chunk.tokens else []
        if num_untold > 0:
            ids = await self._untold_ids(chunk, num_untold)
            tokens[:0] = [Token(token_id, "", None, at_ms) for token_id in ids]
        return tokens

    async def _untold_ids(self, chunk: _Chunk, num_untold: int) -> tuple[int, ...]:
        """The tokens before the one that completed the character, where there is no doubt."""
        ids = await self._ids_of_text(chunk.content)
        if ids[num_untold:] == chunk.tokens:
            return ids[:num_untold]
        return (UNTOLD,) * num_untold

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


def _chunk(value: bytes) -> _Chunk:
    try:
        chunk = _decode(value)
    except msgspec.DecodeError as error:
        raise EngineLost("The engine sent what is not a chunk of an answer.") from error
    if chunk.error is not None:
        raise EngineLost(f"The engine failed: {chunk.error.message}")
    return chunk


def _token(chunk: _Chunk, at_ms: float) -> Token:
    if not chunk.completion_probabilities:
        return Token(chunk.tokens[-1], chunk.content, None, at_ms)
    likely = chunk.completion_probabilities[-1]
    top = tuple([_alternative(other) for other in likely.top_logprobs])
    return Token(likely.id, chunk.content, likely.logprob, at_ms, top)


def _alternative(likely: _Likely) -> Alternative:
    logprob = IMPOSSIBLE if likely.logprob is None else likely.logprob
    return Alternative(likely.id, likely.token, logprob)


def _broken_off(num_untold: int, at_ms: float) -> list[Token]:
    """The answer ran out of room in the middle of a character."""
    if num_untold <= 0:
        return []
    untold = [Token(UNTOLD, "", None, at_ms) for _ in range(num_untold - 1)]
    return [*untold, Token(UNTOLD, REPLACEMENT, None, at_ms)]


def _generated(tokens: list[Token]) -> list[Generated]:
    if not tokens:
        return []
    return [Generated("".join([token.text for token in tokens]), tuple(tokens))]
