"""A streamed answer of an OpenAI-compatible server, heard as what an engine says.

All that arrives together becomes one step. What a chunk looks like is its reader's to know.
"""

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from hitsend.engine.contract import Finished, Generated, Generation, Prompt, PromptWasRead
from hitsend.engine.http import Http
from hitsend.engine.openai_request import Json
from hitsend.engine.sse import SseReader
from hitsend.engine.upstream import Problem, require_ok
from hitsend.errors import EngineLost
from hitsend.messages import Token, Usage


class CachedCount(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


class Count(msgspec.Struct, frozen=True):
    """`usage`, as these servers write it."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: CachedCount | None = None


class Piece(msgspec.Struct, frozen=True, gc=False):
    """One chunk, understood."""

    tokens: Sequence[Token] = ()
    finish_reason: str | None = None
    usage: Count | None = None
    error: Problem | str | None = None


Reader: TypeAlias = Callable[[bytes, float], Piece]
"""Given a chunk and when it arrived. Raises msgspec.DecodeError."""


async def listen(
    http: Http, path: str, request: Json, prompt: Prompt, read: Reader
) -> AsyncGenerator[Generation, None]:
    hearing, events = _Hearing(prompt, read), SseReader()
    async with http.stream("POST", path, msgspec.json.encode(request)) as stream:
        await require_ok(stream, prompt.model)
        while not events.is_done and (data := await stream.read()):
            for step in hearing.heard(events.feed(data)):
                yield step
    if not events.is_done and not hearing.has_finished:
        raise EngineLost("The remote engine stopped in the middle of its answer.")
    yield hearing.finished()


class _Hearing:
    def __init__(self, prompt: Prompt, read: Reader) -> None:
        self.has_finished = False
        self._prompt = prompt
        self._read = read
        self._asked_at = time.perf_counter()
        self._prefill_ms: float | None = None
        self._reason: Literal["stop", "length"] = "stop"
        self._count: Count | None = None
        self._num_tokens = 0

    def heard(self, values: Sequence[bytes]) -> Iterator[Generation]:
        at_ms = self._now_ms()
        tokens: list[Token] = []
        for value in values:
            tokens += self._take(value, at_ms)
        if not tokens:
            return
        if self._prefill_ms is None:
            self._prefill_ms = at_ms
            yield PromptWasRead(0, self._prompt.num_tokens, 0.0, at_ms)
        self._num_tokens += len(tokens)
        yield Generated("".join([token.text for token in tokens]), tuple(tokens))

    def finished(self) -> Finished:
        return Finished(self._reason, self._usage(self._now_ms()))

    def _take(self, value: bytes, at_ms: float) -> Sequence[Token]:
        try:
            piece = self._read(value, at_ms)
        except msgspec.DecodeError as error:
            raise EngineLost("The remote engine sent what is not a chunk of an answer.") from error
        if piece.error is not None:
            raise EngineLost("The remote engine gave up in the middle of its answer.")
        if piece.usage is not None:
            self._count = piece.usage
        if piece.finish_reason is not None:
            self.has_finished = True
            self._reason = "length" if piece.finish_reason == "length" else "stop"
        return piece.tokens

    def _usage(self, at_ms: float) -> Usage:
        count = self._count or Count(self._prompt.num_tokens, self._num_tokens)
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
        return round((time.perf_counter() - self._asked_at) * 1000, 1)
