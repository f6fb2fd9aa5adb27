"""A llama-server that runs elsewhere, spoken to in tokens.

The same requests as to our own llama.cpp child; only its life is not ours to keep.
"""

import time
from collections.abc import AsyncGenerator, Sequence

from hitsend.engine import encoding
from hitsend.engine.beam import Questions, beam_search
from hitsend.engine.completion import complete, prefill
from hitsend.engine.completion_request import completion_request
from hitsend.engine.contract import (
    Generation,
    Level,
    ModelFacts,
    Pieces,
    Prefilled,
    Prompt,
)
from hitsend.engine.decoding import decode
from hitsend.engine.foresight import Foresight
from hitsend.engine.http import Http
from hitsend.engine.look_alikes import LookAlikes
from hitsend.engine.reading_ahead import ReadingAhead
from hitsend.engine.spare_time import SpareTime
from hitsend.engine.template import Properties, Template
from hitsend.engine.tokenizer import Tokenizer
from hitsend.messages import Message, Sampling, Tool


class LlamaServerDialect:
    level: Level = "tokens"
    can_foresee = True

    def __init__(self, http: Http, properties: Properties) -> None:
        self.num_window_tokens: int | None = properties.default_generation_settings.n_ctx
        self._http = http
        self._reading_ahead = ReadingAhead(http)
        self._foresight = Foresight(http)
        self._tokenizer = Tokenizer(http, LookAlikes())
        self._template = Template(http, self._tokenizer, properties)
        self.can_call_tools = self._template.can_call_tools

    async def encode(
        self, model: ModelFacts, messages: Sequence[Message], tools: Sequence[Tool]
    ) -> Prompt:
        encoded = await encoding.encode(self._template, messages, tools)
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

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._tokenizer.spell(prompt.ids)

    def templated(self, model: str) -> Template:
        return self._template

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Generation, None]:
        left = prompt.num_window_tokens - prompt.num_tokens
        num_max_tokens = min(sampling.max_tokens or left, left)
        asked_at = time.perf_counter()

        def sample(settled: Sampling) -> AsyncGenerator[Generation, None]:
            request = completion_request(prompt, settled, num_max_tokens)
            return complete(self._http, request, asked_at, self._tokenizer.ids_of_text)

        def search() -> AsyncGenerator[Generation, None]:
            questions = Questions(
                read=lambda: prefill(self._http, prompt.ids),
                after=lambda said, num: self._foresight.after(prompt.ids + said, num),
            )
            return beam_search(questions, sampling, num_max_tokens, asked_at)

        return self._reading_ahead.remembered(prompt, decode(prompt, sampling, sample, search))

    async def prefill(self, prompt: Prompt, spare_time: SpareTime) -> Prefilled:
        return await self._reading_ahead.read(prompt, spare_time)
