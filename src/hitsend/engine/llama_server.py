"""A llama-server that runs elsewhere, spoken to in tokens.

The same requests as to our own llama.cpp child; only its life is not ours to keep.
"""

import time
from collections.abc import AsyncGenerator, Sequence

import msgspec

from hitsend.engine import encoding
from hitsend.engine.completion import complete, require_ok
from hitsend.engine.completion_request import completion_request, prefill_request
from hitsend.engine.contract import Generation, Level, ModelFacts, Pieces, Prompt
from hitsend.engine.http import Http
from hitsend.engine.look_alikes import LookAlikes
from hitsend.engine.openai_request import Json
from hitsend.engine.tokenizer import Tokenizer
from hitsend.engine.upstream import read_answer
from hitsend.messages import Message, Sampling, Tool


class _Window(msgspec.Struct, frozen=True):
    n_ctx: int


class _Capabilities(msgspec.Struct, frozen=True):
    supports_tools: bool = False
    supports_tool_calls: bool = False


class Properties(msgspec.Struct, frozen=True):
    """What `/props` tells."""

    default_generation_settings: _Window
    chat_template_caps: _Capabilities = _Capabilities()


class _Rendered(msgspec.Struct, frozen=True):
    prompt: str


class LlamaServerDialect:
    level: Level = "tokens"

    def __init__(self, http: Http, properties: Properties) -> None:
        self.num_window_tokens: int | None = properties.default_generation_settings.n_ctx
        self._http = http
        self._capabilities = properties.chat_template_caps
        self._tokenizer = Tokenizer(http, LookAlikes())

    async def encode(
        self, model: ModelFacts, messages: Sequence[Message], tools: Sequence[Tool]
    ) -> Prompt:
        encoded = await encoding.encode(self, messages, tools)
        return Prompt(
            model=model.name,
            num_tokens=len(encoded.ids),
            num_window_tokens=model.num_window_tokens,
            is_exact=True,
            spans=encoded.spans,
            ids=encoded.ids,
        )

    async def tokenize(self, model: str, text: str) -> Pieces:
        return await self._tokenizer.pieces_of_text(text)

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Generation, None]:
        left = prompt.num_window_tokens - prompt.num_tokens
        request = completion_request(prompt, sampling, min(sampling.max_tokens or left, left))
        asked_at = time.perf_counter()
        return complete(self._http, request, asked_at, self._tokenizer.ids_of_text)

    async def prefill(self, prompt: Prompt) -> None:
        async with self._http.stream("POST", "/completion", prefill_request(prompt)) as stream:
            await require_ok(stream)
            while await stream.read():
                continue

    # What encoding needs.

    @property
    def can_call_tools(self) -> bool:
        return self._capabilities.supports_tools and self._capabilities.supports_tool_calls

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        request = {"messages": messages} | ({"tools": tools} if tools else {})
        answer = await self._http.request("POST", "/apply-template", msgspec.json.encode(request))
        return read_answer(answer, _Rendered, "").prompt

    async def ids_of_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        return await self._tokenizer.ids_of_structure(text, is_first=is_first)

    async def ids_of_text(self, text: str) -> tuple[int, ...]:
        return await self._tokenizer.ids_of_text(text)

    def is_plain(self, text: str) -> bool:
        return self._tokenizer.vocabulary.is_plain(text)
