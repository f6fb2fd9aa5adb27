"""The local engine: llama.cpp in child processes, one for each loaded model.

`loaded_models` decides which models are loaded.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec
from cachetools import LRUCache

from hitsend.engine import encoding
from hitsend.engine.beam_search.beam import BeamModel, beam_search
from hitsend.engine.constraint import constrain
from hitsend.engine.contract import (
    Delayed,
    EngineStatus,
    GenerationStep,
    ModelFacts,
    NextTokens,
    Offer,
    Preempted,
    Prefilled,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.decoding import decode
from hitsend.engine.idle_queue import IdleQueue, collect_text
from hitsend.engine.llama.completion import can_enforce_schema, complete, prefill
from hitsend.engine.llama.completion_request import completion_request, default_sampling
from hitsend.engine.llama.guided_calls import (
    REPLY_GRAMMAR,
    GuidedCalls,
    build_guide,
    call_or_reply,
)
from hitsend.engine.llama.loaded_model import LoadedModel
from hitsend.engine.llama.loaded_models import LoadedModels
from hitsend.engine.models.catalogue import Catalogue
from hitsend.engine.models.downloads import Downloads
from hitsend.engine.models.weights import Weights
from hitsend.engine.tool_grammar import CALL_TAG
from hitsend.errors import EngineDown, EngineLost, PromptTooLong, Refused, UnknownModel
from hitsend.messages import FREE, AnswerRules, Message, Sampling, Tool
from hitsend.settings import Settings

T = TypeVar("T")

AUTO = ("", "auto")
NOT_JSON = "Z"
"""No JSON text starts with it."""
MAX_CHECKED_SCHEMAS = 256


class LlamaEngine:
    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._idle_queue = IdleQueue()
        self._loaded_models = LoadedModels(settings, catalogue, self._idle_queue)
        self._downloads = Downloads(catalogue)
        self._checked_schemas = LRUCache[str, None](MAX_CHECKED_SCHEMAS)

    async def start(self) -> None:
        self._loaded_models.start()

    async def close(self) -> None:
        await self._downloads.close()
        await self._loaded_models.close()

    def status(self) -> EngineStatus:
        status = self._loaded_models.status()
        requested = self._catalogue.drop_resolved_failures(self._downloads.all)
        downloads = (*status.downloads, *requested)
        # If one download of a model failed and another runs, report the one that runs.
        by_name = {one.name: one for one in sorted(downloads, key=lambda one: one.problem is None)}
        return msgspec.structs.replace(status, downloads=tuple(by_name.values()))

    async def models(self) -> Sequence[ModelFacts]:
        return [self._facts(weights) for weights in await self._loaded_models.installed()]

    async def offers(self) -> Sequence[Offer]:
        return await asyncio.to_thread(self._catalogue.offers)

    async def fetch(self, name: str) -> None:
        is_running = any(
            download.name == name and download.problem is None
            for download in self.status().downloads
        )
        if not is_running:
            await self._downloads.start(name)

    async def remove(self, name: str) -> None:
        await self._check_known(name)
        await self._loaded_models.unload(name)
        was_downloading = await self._downloads.cancel(name)
        try:
            await asyncio.to_thread(self._catalogue.remove, name)
        except UnknownModel:
            if not was_downloading:
                raise

    async def require_ready(self, name: str) -> None:
        await self._loaded_models.require_ready(None if name in AUTO else name)

    async def resolve(self, name: str) -> ModelFacts:
        loaded = await self._find(name)
        return self._facts(loaded.weights)

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        async def encode(loaded: LoadedModel) -> Prompt:
            if tools and not loaded.template.can_call_tools:
                raise Refused(f"{loaded.weights.title} cannot call tools.", param="tools")
            name, num_window_tokens = loaded.weights.name, loaded.num_window_tokens
            if tools and loaded.is_guided:
                encoded = await encoding.encode_listed(loaded.template, messages, tools)
                prompt = encoded.to_prompt(name, num_window_tokens, tools, rules)
                return msgspec.structs.replace(prompt, guide=build_guide(messages, tools))
            encoded = await encoding.encode(loaded.template, messages, tools)
            return encoded.to_prompt(name, num_window_tokens, tools, rules)

        return await self._retry_once(model, encode)

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        return await self._retry_once(
            model, lambda loaded: loaded.template.tokenizer.tokenize_pieces(text)
        )

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._retry_once(
            prompt.model, lambda loaded: loaded.template.tokenizer.detokenize(prompt.ids)
        )

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[GenerationStep, None]:
        requested_at = time.perf_counter()
        if prompt.guide is None:
            sampling = constrain(sampling, prompt)
        with self._idle_queue.foreground():
            if not self._loaded_models.is_ready(prompt.model):
                yield Delayed("loading")
            await self._idle_queue.preempt(prompt)
            loaded = await self._find(prompt.model)
            _check_bias(loaded, sampling)
            num_max_tokens = self._num_max_tokens(loaded, prompt, sampling)
            num_tokens = prompt.num_tokens + num_max_tokens
            with loaded.slots.enqueue(num_tokens, lane) as request:
                async with contextlib.aclosing(loaded.slots.watch_queue(request)) as positions:
                    async for num_ahead in positions:
                        yield Delayed("queue", num_ahead)
                await self._check_schema(prompt.model, sampling.json_schema)
                answer = self._answer(loaded, prompt, sampling, num_max_tokens, requested_at)
                async with contextlib.aclosing(answer):
                    async for step in answer:
                        yield step

    def _answer(
        self,
        loaded: LoadedModel,
        prompt: Prompt,
        sampling: Sampling,
        num_max_tokens: int,
        requested_at: float,
    ) -> AsyncGenerator[GenerationStep, None]:
        """Runs in a slot that the caller holds: a search keeps it from request to request."""

        def run(request: bytes) -> AsyncGenerator[GenerationStep, None]:
            return self._complete(loaded, request, requested_at)

        def sample(resolved: Sampling) -> AsyncGenerator[GenerationStep, None]:
            if prompt.guide:
                return run(completion_request(prompt, resolved, num_max_tokens, REPLY_GRAMMAR))
            grammar = loaded.template.strict_calls(prompt)
            return run(completion_request(prompt, resolved, num_max_tokens, grammar, CALL_TAG))

        def search() -> AsyncGenerator[GenerationStep, None]:
            return beam_search(self._beam_model(prompt), sampling, num_max_tokens, requested_at)

        def answer() -> AsyncGenerator[GenerationStep, None]:
            return decode(prompt, sampling, sample, search)

        if prompt.guide:
            calls = GuidedCalls(prompt, prompt.guide, loaded.template, run, num_max_tokens)
            return loaded.prefiller.track(prompt, call_or_reply(calls, answer))
        return loaded.prefiller.track(prompt, answer())

    def _beam_model(self, prompt: Prompt) -> BeamModel:
        async def prefill_prompt() -> Prefilled:
            return await self._retry_once(prompt.model, lambda one: prefill(one.http, prompt.ids))

        async def next_tokens(new_ids: tuple[int, ...], num: int) -> NextTokens:
            ids = prompt.ids + new_ids
            return await self._retry_once(
                prompt.model, lambda one: one.next_token_probs.query(ids, num)
            )

        return BeamModel(prefill_prompt, next_tokens)

    async def _complete(
        self, loaded: LoadedModel, request: bytes, requested_at: float
    ) -> AsyncGenerator[GenerationStep, None]:
        """Retries once if the process died before its first step, so that nobody notices."""
        for is_final in (False, True):
            if not loaded.is_ready:
                yield Delayed("loading")
            await loaded.wait_until_ready(self._settings.engine_wait_s)
            steps = complete(loaded.http, request, requested_at, loaded.template.tokenize_text)
            try:
                async with contextlib.aclosing(steps):
                    async for step in steps:
                        is_final = True  # a retry would repeat this step
                        yield step
            except (EngineDown, EngineLost):
                loaded.request_health_check()
                if is_final:
                    raise
            else:
                return

    async def prefill(self, prompt: Prompt) -> PrefillResult:
        async def prefill_prompt() -> PrefillResult:
            loaded = await self._require_loaded(prompt.model)
            async with loaded.slots.acquire(prompt.num_tokens):
                return await loaded.prefiller.prefill(prompt, self._idle_queue)

        return await self._idle_queue.prefill(prompt, prefill_prompt)

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        async def generate_text() -> str:
            loaded = await self._require_loaded(prompt.model)
            num_max_tokens = self._num_max_tokens(loaded, prompt, sampling)
            async with loaded.slots.acquire(prompt.num_tokens + num_max_tokens):
                await loaded.prefiller.prefill(prompt, self._idle_queue)
                now = time.perf_counter()
                return await collect_text(
                    self._answer(loaded, prompt, sampling, num_max_tokens, now)
                )

        return await self._idle_queue.run(generate_text, can_wait=can_wait)

    async def generate_beside(self, prompt: Prompt, sampling: Sampling) -> str:
        """There is never room: an answer uses every core, and would be slower."""
        raise Preempted

    async def _retry_once(self, model: str, request: Callable[[LoadedModel], Awaitable[T]]) -> T:
        """Sends a request, and once more if the process died during the first."""
        loaded = await self._find(model)
        try:
            return await request(loaded)
        except (EngineDown, EngineLost):
            loaded.request_health_check()
        await loaded.wait_until_ready(self._settings.engine_wait_s)
        return await request(loaded)

    async def _check_known(self, name: str) -> None:
        """Refuses file paths, which the catalogue would accept as names: a caller must not delete
        an arbitrary file."""
        known = {weights.name for weights in await self._loaded_models.installed()}
        if name not in known | {offer.name for offer in await self.offers()}:
            raise UnknownModel(f"{name!r} is not on this machine.", param="model")

    async def _find(self, name: str) -> LoadedModel:
        if name in AUTO:
            return await self._loaded_models.find_default()
        return await self._loaded_models.find(name)

    async def _require_loaded(self, name: str) -> LoadedModel:
        """Raises EngineDown if the model is not loaded."""
        await self._loaded_models.require_ready(name)
        return await self._loaded_models.find(name)

    def _facts(self, weights: Weights) -> ModelFacts:
        return ModelFacts(
            name=weights.name,
            title=weights.title,
            num_window_tokens=min(weights.num_window_tokens, self._settings.num_window_tokens),
            level="tokens",
            where="here",
            quantisation=weights.quantisation,
            weights_sha256=weights.sha256,
            num_bytes=weights.num_bytes,
            can_call_tools=weights.can_call_tools,
            is_default=self._loaded_models.is_default(weights.name),
            good_at=self._catalogue.good_at(weights),
            has_next_token_probs=True,
            default_sampling=default_sampling(weights.name),
            is_exact=self._loaded_models.is_exact(weights.name),
        )

    def _num_max_tokens(self, loaded: LoadedModel, prompt: Prompt, sampling: Sampling) -> int:
        """Returns how long the answer may get. Raises PromptTooLong."""
        num_left = loaded.num_window_tokens - prompt.num_tokens
        if num_left < 1:
            raise PromptTooLong(
                f"The message takes {prompt.num_tokens} tokens, and {loaded.weights.title} "
                f"reads {loaded.num_window_tokens}, its answer included.",
                param="messages",
            )
        return min(sampling.max_tokens or self._settings.max_answer_tokens, num_left)

    async def _check_schema(self, model: str, json_schema: str | None) -> None:
        """Checks each schema once: llama.cpp silently ignores a schema that it cannot enforce."""

        async def can_enforce(loaded: LoadedModel) -> bool:
            token_id = (await loaded.template.tokenize_text(NOT_JSON))[0]
            return await can_enforce_schema(loaded.http, json_schema or "", token_id)

        if json_schema is None or json_schema in self._checked_schemas:
            return
        if not await self._retry_once(model, can_enforce):
            raise Refused("No answer can be made to follow this JSON Schema.")
        self._checked_schemas[json_schema] = None


def _check_bias(loaded: LoadedModel, sampling: Sampling) -> None:
    num_tokens = loaded.template.tokenizer.vocabulary.num_tokens
    for token_id, _ in sampling.logit_bias or ():
        if token_id >= num_tokens:
            raise Refused(
                f"`logit_bias` names token {token_id}; the last one is {num_tokens - 1}.",
                param="logit_bias",
            )
