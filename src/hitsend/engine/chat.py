"""The lesser level: a server that speaks only `/v1/chat/completions`.

Messages in, text out. The server tokenises, so counts before the answer are estimates and
say so, and there are no token ids. Calls of tools come back as the text a model would have
written, so that one parser reads them from every engine.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence

import msgspec

from hitsend.engine.contract import (
    Generation,
    Level,
    ModelFacts,
    Pieces,
    Prefilled,
    Prompt,
)
from hitsend.engine.decoding import decode
from hitsend.engine.encoding import split_begun
from hitsend.engine.hearing import Count, Piece, listen
from hitsend.engine.http import Http
from hitsend.engine.openai_request import chat_request
from hitsend.engine.spare_time import SpareTime
from hitsend.engine.upstream import Problem
from hitsend.errors import Refused
from hitsend.events import Span
from hitsend.messages import UNTOLD, Alternative, Message, Sampling, Text, Token, Tool, source_of

BYTES_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
CANNOT_CONTINUE = (
    "This model cannot go on from where an answer was cut. Ask it to continue in a message."
)


class ChatDialect:
    """Only what every such server can do."""

    level: Level = "chat"
    can_call_tools = True
    can_foresee = False
    num_window_tokens = None

    def __init__(self, http: Http, *, is_vllm: bool = False) -> None:
        """Only vLLM can be told to continue an answer. Others might begin a new one."""
        self._http = http
        self._is_vllm = is_vllm

    async def encode(
        self, model: ModelFacts, messages: Sequence[Message], tools: Sequence[Tool]
    ) -> Prompt:
        """A prompt whose length is a guess, and is marked as one."""
        if not self._is_vllm and split_begun(messages)[1]:
            raise Refused(CANNOT_CONTINUE, param="parent_message_id")
        spans = [span for index, message in enumerate(messages) for span in _spans(message, index)]
        if tools:
            spans.append(Span("template", -1, _num_tokens(tools)))
        return Prompt(
            model=model.name,
            num_tokens=sum(span.num_tokens for span in spans),
            num_window_tokens=model.num_window_tokens,
            is_exact=False,
            spans=tuple(spans),
            messages=tuple(messages),
            tools=tuple(tools),
        )

    async def tokenize(self, model: str, text: str) -> Pieces:
        raise Refused(f"{model} runs on a server that does not say how it splits text.")

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]:
        raise Refused(f"{prompt.model} runs on a server that does not say how it splits text.")

    def templated(self, model: str) -> None:
        return None

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Generation, None]:
        def sample(settled: Sampling) -> AsyncGenerator[Generation, None]:
            request = chat_request(prompt, settled)
            if self._is_vllm and split_begun(prompt.messages)[1]:
                request |= {"continue_final_message": True, "add_generation_prompt": False}
            return listen(self._http, "/v1/chat/completions", request, prompt, _ChunkReader())

        return decode(prompt, sampling, sample)

    async def prefill(self, prompt: Prompt, spare_time: SpareTime) -> Prefilled:
        """There is no asking such a server to read without answering."""
        return Prefilled()


def _spans(message: Message, index: int) -> Iterator[Span]:
    """One for each part; what holds the message together is counted with the first."""
    num_more = TOKENS_PER_MESSAGE
    for part in message.parts or (Text(""),):
        yield Span(source_of(part, message), index, _num_tokens((part,)) + num_more)
        num_more = 0


def _num_tokens(value: object) -> int:
    return -(-len(msgspec.json.encode(value)) // BYTES_PER_TOKEN)


class _Function(msgspec.Struct, frozen=True):
    name: str | None = None
    arguments: str | None = None


class _CallDelta(msgspec.Struct, frozen=True):
    index: int = 0
    function: _Function | None = None


class _Delta(msgspec.Struct, frozen=True, gc=False):
    content: str | None = None
    tool_calls: tuple[_CallDelta, ...] | None = None


class _Likely(msgspec.Struct, frozen=True):
    token: str
    logprob: float
    top_logprobs: tuple["_Likely", ...] = ()


class _Logprobs(msgspec.Struct, frozen=True):
    content: tuple[_Likely, ...] | None = None


class _Choice(msgspec.Struct, frozen=True, gc=False):
    delta: _Delta = _Delta()
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Chunk(msgspec.Struct, frozen=True, gc=False):
    """Of a chunk only what is used: the rest is skipped without being built."""

    choices: tuple[_Choice, ...] = ()
    usage: Count | None = None
    error: Problem | str | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


class _ChunkReader:
    """Chunks of one answer. Calls of tools come in pieces and are said when they are whole."""

    def __init__(self) -> None:
        self._calls: dict[int, _WrittenCall] = {}

    def __call__(self, value: bytes, at_ms: float) -> Piece:
        chunk = _decode(value)
        if not chunk.choices:
            return Piece(usage=chunk.usage, error=chunk.error)
        choice = chunk.choices[0]
        content = choice.delta.content
        tokens = _tokens(content, choice.logprobs, at_ms) if content else []
        for delta in choice.delta.tool_calls or ():
            self._calls.setdefault(delta.index, _WrittenCall()).add(delta)
        if choice.finish_reason is not None and self._calls:
            calls = [call.as_text() for _, call in sorted(self._calls.items())]
            tokens.append(Token(UNTOLD, "\n".join(calls), None, at_ms))
        return Piece(tokens, choice.finish_reason, chunk.usage, chunk.error)


class _WrittenCall:
    def __init__(self) -> None:
        self._name = ""
        self._arguments = ""

    def add(self, delta: _CallDelta) -> None:
        if delta.function is not None:
            self._name += delta.function.name or ""
            self._arguments += delta.function.arguments or ""

    def as_text(self) -> str:
        name = msgspec.json.encode(self._name).decode()
        # In JSON it can only stand inside a string, where it must not end the call.
        arguments = self._arguments.replace("</tool_call>", r"\u003c/tool_call>") or "{}"
        return f'<tool_call>\n{{"name": {name}, "arguments": {arguments}}}\n</tool_call>'


def _tokens(content: str, logprobs: _Logprobs | None, at_ms: float) -> list[Token]:
    """One for each the server told of; one for the whole piece where it told of none."""
    likely = (logprobs and logprobs.content) or ()
    if "".join([one.token for one in likely]) != content:
        return [Token(UNTOLD, content, None, at_ms)]
    return [Token(UNTOLD, one.token, one.logprob, at_ms, _alternatives(one)) for one in likely]


def _alternatives(likely: _Likely) -> tuple[Alternative, ...]:
    return tuple([Alternative(UNTOLD, one.token, one.logprob) for one in likely.top_logprobs])
