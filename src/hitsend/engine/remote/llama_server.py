"""The dialect of a remote llama-server: token ids in, tokens out.

It receives the same requests as our own llama.cpp child, but we do not supervise it.
"""

import time
from collections.abc import AsyncGenerator, Sequence

from hitsend.engine import encoding
from hitsend.engine.beam_search.beam import BeamModel, beam_search
from hitsend.engine.constraint import constrain
from hitsend.engine.contract import (
    GenerationStep,
    Level,
    ModelFacts,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.decoding import decode
from hitsend.engine.http import HttpClient
from hitsend.engine.idle_queue import IdleQueue
from hitsend.engine.llama.completion import complete, prefill
from hitsend.engine.llama.completion_request import completion_request, default_sampling
from hitsend.engine.llama.next_token_probs import NextTokenProbs
from hitsend.engine.llama.prefill import Prefiller
from hitsend.engine.llama.template import Properties, Template
from hitsend.engine.llama.tokenizer import Tokenizer
from hitsend.engine.llama.vocabulary import GuessedVocabulary
from hitsend.engine.message_json import Json
from hitsend.engine.tool_grammar import CALL_TAG
from hitsend.engine.upstream_errors import log_problem
from hitsend.errors import Refused
from hitsend.messages import AnswerRules, Message, Sampling, Tool


class RemoteTemplate(Template):
    """Logs the server's words, and shows ours."""

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        try:
            return await super().render(messages, tools)
        except Refused as error:
            if type(error) is not Refused:
                raise  # a more specific error, worded by us
            log_problem("refused a prompt", error.message)
            raise Refused("The model cannot be given these messages.") from None


class LlamaServerDialect:
    level: Level = "tokens"
    has_next_token_probs = True

    def __init__(self, http: HttpClient, properties: Properties) -> None:
        self.num_window_tokens: int | None = properties.default_generation_settings.n_ctx
        self._http = http
        self._prefiller = Prefiller(http)
        self._next_token_probs = NextTokenProbs(http)
        self._tokenizer = Tokenizer(http, GuessedVocabulary())
        self._template = RemoteTemplate(http, self._tokenizer, properties)
        self.can_call_tools = self._template.can_call_tools

    def default_sampling(self, model: str) -> Sampling:
        return default_sampling(model)

    async def encode(
        self,
        model: ModelFacts,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        rules: AnswerRules,
    ) -> Prompt:
        encoded = await encoding.encode(self._template, messages, tools)
        return encoded.to_prompt(model.name, model.num_window_tokens, tools, rules)

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        return await self._tokenizer.tokenize_pieces(text)

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._tokenizer.detokenize(prompt.ids)

    def chat_template(self, model: str) -> Template:
        return self._template

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[GenerationStep, None]:
        num_left = prompt.num_window_tokens - prompt.num_tokens
        num_max_tokens = min(sampling.max_tokens or num_left, num_left)
        requested_at = time.perf_counter()

        def sample(resolved: Sampling) -> AsyncGenerator[GenerationStep, None]:
            constrained, grammar = constrain(resolved, prompt), self._template.strict_calls(prompt)
            request = completion_request(prompt, constrained, num_max_tokens, grammar, CALL_TAG)
            return complete(self._http, request, requested_at, self._tokenizer.tokenize_text)

        def search() -> AsyncGenerator[GenerationStep, None]:
            model = BeamModel(
                lambda: prefill(self._http, prompt.ids),
                lambda ids, num: self._next_token_probs.query(prompt.ids + ids, num),
            )
            return beam_search(model, sampling, num_max_tokens, requested_at)

        return self._prefiller.track(prompt, decode(prompt, sampling, sample, search))

    async def prefill(self, prompt: Prompt, idle_queue: IdleQueue) -> PrefillResult:
        return await self._prefiller.prefill(prompt, idle_queue)
