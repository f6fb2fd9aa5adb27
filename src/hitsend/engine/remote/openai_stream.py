"""Turns the streamed response of an OpenAI-compatible server into generation steps.

Everything that arrives in one read becomes one step. Chat and completion chunks differ, so the
caller passes the parser of its chunks.
"""

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from hitsend.engine.contract import Finished, Generated, GenerationStep, Prefilled, Prompt
from hitsend.engine.http import HttpClient
from hitsend.engine.message_json import Json
from hitsend.engine.upstream_errors import (
    UNREADABLE,
    UNREADABLE_ANSWER,
    Problem,
    log_problem,
    require_ok,
)
from hitsend.errors import EngineLost
from hitsend.messages import Token, Usage
from hitsend.sse import SseDataReader


class CachedTokens(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


class UsageCounts(msgspec.Struct, frozen=True):
    """`usage` in a chunk."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: CachedTokens | None = None


class ParsedChunk(msgspec.Struct, frozen=True, gc=False):
    """The parts of a chunk that both formats share."""

    tokens: Sequence[Token] = ()
    finish_reason: str | None = None
    usage: UsageCounts | None = None
    error: Problem | str | None = None
    reasoning: str = ""


ChunkParser: TypeAlias = Callable[[bytes, float], ParsedChunk]
"""Called with a chunk and its arrival time in ms. Raises one of UNREADABLE."""


async def stream_completion(
    http: HttpClient, path: str, request: Json, prompt: Prompt, parse: ChunkParser
) -> AsyncGenerator[GenerationStep, None]:
    completion, reader = _OpenAiStream(prompt, parse), SseDataReader()
    async with http.stream("POST", path, msgspec.json.encode(request)) as stream:
        await require_ok(stream, prompt.model)
        while not reader.is_done and (data := await stream.read()):
            for step in completion.feed(reader.feed(data)):
                yield step
            if not completion.has_begun:
                stream.keep_first_silence()
    if not reader.is_done and not completion.has_finished:
        raise EngineLost("The remote engine stopped in the middle of its answer.")
    yield completion.finish()


class _OpenAiStream:
    def __init__(self, prompt: Prompt, parse: ChunkParser) -> None:
        self.has_finished = False
        self._prompt = prompt
        self._parse = parse
        self._requested_at = time.perf_counter()
        self._prefill_ms: float | None = None
        self._reason: Literal["stop", "length"] = "stop"
        self._count: UsageCounts | None = None
        self._num_tokens = 0

    @property
    def has_begun(self) -> bool:
        """Whether a token, or a thought, has arrived."""
        return self._prefill_ms is not None

    def feed(self, values: Sequence[bytes]) -> Iterator[GenerationStep]:
        at_ms = self._now_ms()
        chunks = [self._feed_chunk(value, at_ms) for value in values]
        tokens = [token for chunk in chunks for token in chunk.tokens]
        reasoning = "".join(chunk.reasoning for chunk in chunks)
        if not (tokens or reasoning):
            return
        if self._prefill_ms is None:
            self._prefill_ms = at_ms
            yield Prefilled(0, self._prompt.num_tokens, 0.0, at_ms)
        self._num_tokens += len(tokens)
        text = "".join([token.text for token in tokens])
        yield Generated(text, tuple(tokens), reasoning=reasoning)

    def finish(self) -> Finished:
        return Finished(self._reason, self._usage(self._now_ms()))

    def _feed_chunk(self, value: bytes, at_ms: float) -> ParsedChunk:
        try:
            chunk = self._parse(value, at_ms)
        except UNREADABLE as error:
            raise EngineLost(UNREADABLE_ANSWER) from error
        if chunk.error is not None:
            log_problem("gave up", chunk.error)
            raise EngineLost("The remote engine failed in the middle of its answer.")
        if chunk.usage is not None:
            self._count = chunk.usage
        if chunk.finish_reason is not None:
            self.has_finished = True
            self._reason = "length" if chunk.finish_reason == "length" else "stop"
        return chunk

    def _usage(self, at_ms: float) -> Usage:
        count = self._count or UsageCounts(self._prompt.num_tokens, self._num_tokens)
        details = count.prompt_tokens_details
        prefill_ms = at_ms if self._prefill_ms is None else self._prefill_ms
        return Usage(
            num_input_tokens=count.prompt_tokens,
            num_cached_tokens=(details.cached_tokens or 0) if details else 0,
            num_output_tokens=count.completion_tokens,
            prefill_ms=prefill_ms,
            decode_ms=round(at_ms - prefill_ms, 1),
            is_estimated=self._count is None,
        )

    def _now_ms(self) -> float:
        return round((time.perf_counter() - self._requested_at) * 1000, 1)
