"""The chat dialect: a server that offers only `/v1/chat/completions`. Messages in, text out.

The server tokenizes, so there are no token ids, and prompt token counts are estimates. Tool calls
are turned back into the text a model writes, so that one parser reads them from every engine.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.engine.contract import (
    GenerationStep,
    Level,
    ModelFacts,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.decoding import decode
from hitsend.engine.encoding import split_partial_answer
from hitsend.engine.http import HttpClient
from hitsend.engine.idle_queue import IdleQueue
from hitsend.engine.remote.chat_request import chat_request
from hitsend.engine.remote.openai_stream import ParsedChunk, UsageCounts, stream_completion
from hitsend.engine.tool_calls import JsonReader
from hitsend.engine.upstream_errors import Problem
from hitsend.errors import EngineLost, Refused
from hitsend.events import Span
from hitsend.messages import (
    UNKNOWN_ID,
    Alternative,
    AnswerRules,
    Message,
    Sampling,
    Text,
    Token,
    Tool,
    part_source,
)

BYTES_PER_TOKEN = 4
TOKENS_PER_MESSAGE = 4
MAX_CALL_CHARS = 2**20
"""Limits all tool calls of an answer together."""
CANNOT_CONTINUE = (
    "This model cannot go on from where an answer was cut. Ask it to continue in a message."
)


class ChatDialect:
    """Uses only features that every OpenAI-compatible server has."""

    level: Level = "chat"
    can_call_tools = True
    has_next_token_probs = False
    num_window_tokens = None

    def __init__(self, http: HttpClient, *, is_vllm: bool = False) -> None:
        """Only vLLM can be told to continue an answer. Other servers might start a new one."""
        self._http = http
        self._is_vllm = is_vllm

    def default_sampling(self, model: str) -> UnsetType:
        return UNSET

    async def encode(
        self,
        model: ModelFacts,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        rules: AnswerRules,
    ) -> Prompt:
        """Estimates the token counts from the number of bytes."""
        if not self._is_vllm and split_partial_answer(messages)[1]:
            raise Refused(CANNOT_CONTINUE, param="parent_message_id")
        spans = [span for index, message in enumerate(messages) for span in _spans(message, index)]
        if tools:
            spans.append(Span("template", -1, _estimate_tokens(tools)))
        return Prompt(
            model=model.name,
            num_tokens=sum(span.num_tokens for span in spans),
            num_window_tokens=model.num_window_tokens,
            is_exact=False,
            spans=tuple(spans),
            messages=tuple(messages),
            tools=tuple(tools),
            rules=rules,
        )

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        raise Refused(f"{model} runs on a server that does not say how it splits text.")

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]:
        raise Refused(f"{prompt.model} runs on a server that does not say how it splits text.")

    def chat_template(self, model: str) -> None:
        return None

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[GenerationStep, None]:
        def sample(resolved: Sampling) -> AsyncGenerator[GenerationStep, None]:
            request = chat_request(prompt, resolved)
            if self._is_vllm and split_partial_answer(prompt.messages)[1]:
                request |= {"continue_final_message": True, "add_generation_prompt": False}
            return stream_completion(
                self._http, "/v1/chat/completions", request, prompt, _ChunkParser()
            )

        return decode(prompt, sampling, sample)

    async def prefill(self, prompt: Prompt, idle_queue: IdleQueue) -> PrefillResult:
        """Does nothing: such a server cannot prefill without generating."""
        return PrefillResult()


def _spans(message: Message, index: int) -> Iterator[Span]:
    """Yields one span for each part. The first includes the overhead of the message."""
    num_overhead = TOKENS_PER_MESSAGE
    if message.reasoning:
        num_overhead += _estimate_tokens(message.reasoning)
    for part in message.parts or (Text(""),):
        yield Span(part_source(part, message), index, _estimate_tokens((part,)) + num_overhead)
        num_overhead = 0


def _estimate_tokens(value: object) -> int:
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
    reasoning_content: object = None
    reasoning: object = None
    """The same, as some servers name it."""

    @property
    def thought(self) -> str:
        found = self.reasoning_content or self.reasoning
        return found if isinstance(found, str) else ""


class _TokenProb(msgspec.Struct, frozen=True):
    token: str
    logprob: float
    top_logprobs: tuple["_TokenProb", ...] = ()


class _Logprobs(msgspec.Struct, frozen=True):
    content: tuple[_TokenProb, ...] | None = None


class _Choice(msgspec.Struct, frozen=True, gc=False):
    delta: _Delta = _Delta()
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Chunk(msgspec.Struct, frozen=True, gc=False):
    """The fields that are used: msgspec skips the others without building them."""

    choices: tuple[_Choice, ...] = ()
    usage: UsageCounts | None = None
    error: Problem | str | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


class _ChunkParser:
    """Parses the chunks of one answer. Writes its tool calls one after the other: pieces of a call
    wait until the calls before it are whole."""

    def __init__(self) -> None:
        self._calls: dict[int, _CallWriter] = {}
        self._num_written = 0
        self._num_call_chars = 0

    def __call__(self, value: bytes, at_ms: float) -> ParsedChunk:
        chunk = _decode(value)
        if not chunk.choices:
            return ParsedChunk(usage=chunk.usage, error=chunk.error)
        choice = chunk.choices[0]
        content = choice.delta.content
        tokens = _tokens(content, choice.logprobs, at_ms) if content else []
        for delta in choice.delta.tool_calls or ():
            self._add_call(delta)
        if written := self._write_calls(is_final=choice.finish_reason is not None):
            tokens.append(Token(UNKNOWN_ID, written, None, at_ms))
        finish, thought = choice.finish_reason, choice.delta.thought
        return ParsedChunk(tokens, finish, chunk.usage, chunk.error, thought)

    def _add_call(self, delta: _CallDelta) -> None:
        call = self._calls.setdefault(delta.index, _CallWriter())
        self._num_call_chars += 1 + call.add(delta.function or _Function())
        if self._num_call_chars > MAX_CALL_CHARS:
            raise EngineLost("The remote engine sent a tool call without an end.")

    def _write_calls(self, *, is_final: bool) -> str:
        written = ""
        for call in list(self._calls.values())[self._num_written :]:
            written += call.write(is_final=is_final)
            if not (call.is_whole or is_final):
                break
            self._num_written += 1
        return written


class _CallWriter:
    """Writes a call as the text of a model, as far as its pieces are there."""

    def __init__(self) -> None:
        self._name = ""
        self._arguments = ""
        """Not yet written."""
        self._reader = JsonReader()
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        return self._reader.is_done

    def add(self, function: _Function) -> int:
        """Returns the number of characters added."""
        name, arguments = function.name or "", function.arguments or ""
        self._name += name
        self._arguments += arguments
        return len(name) + len(arguments)

    def write(self, *, is_final: bool) -> str:
        """Begins with the arguments: until then, more of the name might come. A call without any
        has no arguments. A call that is not whole in the end was cut."""
        if not (self._arguments or is_final) or self.is_whole:
            return ""
        if is_final and not self._has_begun:
            self._arguments = self._arguments or "{}"
        written, _ = self._reader.read(self._arguments)
        self._arguments = ""
        name = msgspec.json.encode(self._name).decode()
        head = "" if self._has_begun else f'<tool_call>\n{{"name": {name}, "arguments": '
        self._has_begun = True
        return head + written + ("}\n</tool_call>\n" if self.is_whole else "")


def _tokens(content: str, logprobs: _Logprobs | None, at_ms: float) -> list[Token]:
    """Returns one token for each logprob, or one for the whole content if there are none."""
    likely = (logprobs and logprobs.content) or ()
    if "".join([one.token for one in likely]) != content:
        return [Token(UNKNOWN_ID, content, None, at_ms)]
    return [Token(UNKNOWN_ID, one.token, one.logprob, at_ms, _alternatives(one)) for one in likely]


def _alternatives(likely: _TokenProb) -> tuple[Alternative, ...]:
    return tuple([Alternative(UNKNOWN_ID, one.token, one.logprob) for one in likely.top_logprobs])
