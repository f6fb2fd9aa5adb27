"""The local engine: llama.cpp in processes of its own, one for each model in memory.

Which models those are is `residents`' business; this is what a turn may ask of one.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from hitsend.engine import encoding
from hitsend.engine.beam import Questions, beam_search
from hitsend.engine.catalogue import Catalogue
from hitsend.engine.completion import complete, follows_schema, prefill
from hitsend.engine.completion_request import completion_request
from hitsend.engine.contract import (
    Delayed,
    EngineStatus,
    GaveWay,
    Generation,
    ModelFacts,
    Offer,
    Outlook,
    Pieces,
    Prefilled,
    Prompt,
    PromptWasRead,
)
from hitsend.engine.decoding import decode
from hitsend.engine.fetches import Fetches
from hitsend.engine.resident import Resident
from hitsend.engine.residents import Residents
from hitsend.engine.spare_time import SpareTime, text_of
from hitsend.engine.weights import Weights
from hitsend.errors import EngineDown, EngineLost, PromptTooLong, Refused, UnknownModel
from hitsend.messages import Message, Sampling, Tool
from hitsend.recent import Recent
from hitsend.settings import Settings

T = TypeVar("T")

AUTO = ("", "auto")
NO_JSON = "Z"
"""No JSON text begins with it."""
MAX_KNOWN_SCHEMAS = 256


class LlamaEngine:
    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._spare_time = SpareTime()
        self._residents = Residents(settings, catalogue, self._spare_time)
        self._fetches = Fetches(catalogue)
        self._known_schemas = Recent[str, None](MAX_KNOWN_SCHEMAS)

    async def start(self) -> None:
        self._residents.start()

    async def close(self) -> None:
        await self._fetches.close()
        await self._residents.close()

    def status(self) -> EngineStatus:
        status = self._residents.status()
        told = (*status.downloads, *self._catalogue.without_arrived(self._fetches.downloads))
        # Of two that fetch the same, the one that gets on.
        by_name = {one.name: one for one in sorted(told, key=lambda one: one.problem is None)}
        return msgspec.structs.replace(status, downloads=tuple(by_name.values()))

    async def models(self) -> Sequence[ModelFacts]:
        return [self._facts(weights) for weights in await self._residents.installed()]

    async def offers(self) -> Sequence[Offer]:
        return await asyncio.to_thread(self._catalogue.offers)

    async def fetch(self, name: str) -> None:
        is_coming = any(
            download.name == name and download.problem is None
            for download in self.status().downloads
        )
        if not is_coming:
            await self._fetches.begin(name)

    async def remove(self, name: str) -> None:
        await self._check_known(name)
        await self._residents.unload(name)
        was_coming = await self._fetches.forget(name)
        try:
            await asyncio.to_thread(self._catalogue.remove, name)
        except UnknownModel:
            if not was_coming:
                raise

    async def require_ready(self, name: str) -> None:
        await self._residents.require_ready(None if name in AUTO else name)

    async def resolve(self, name: str) -> ModelFacts:
        resident = await self._find(name)
        return self._facts(resident.weights)

    async def encode(
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        async def encode(resident: Resident) -> Prompt:
            if tools and not resident.template.can_call_tools:
                raise Refused(f"{resident.weights.title} cannot call tools.", param="tools")
            encoded = await encoding.encode(resident.template, messages, tools)
            return Prompt(
                model=resident.weights.name,
                num_tokens=len(encoded.ids),
                num_window_tokens=resident.num_window_tokens,
                is_exact=True,
                spans=encoded.spans,
                ids=encoded.ids,
            )

        return await self._ask(model, encode)

    async def tokenize(self, model: str, text: str) -> Pieces:
        return await self._ask(
            model, lambda resident: resident.template.tokenizer.pieces_of_text(text)
        )

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._ask(
            prompt.model, lambda resident: resident.template.tokenizer.spell(prompt.ids)
        )

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[Generation, None]:
        asked_at = time.perf_counter()
        with self._spare_time.person():
            if not self._residents.is_ready(prompt.model):
                yield Delayed("loading")
            await self._spare_time.end(prompt)
            resident = await self._find(prompt.model)
            _check_bias(resident, sampling)
            num_max_tokens = self._room(resident, prompt, sampling)
            num_tokens = prompt.num_tokens + num_max_tokens
            with resident.slots.take_place(num_tokens, lane) as place:
                async with contextlib.aclosing(resident.slots.num_ahead(place)) as waiting:
                    async for num_ahead in waiting:
                        yield Delayed("queue", num_ahead)
                await self._check_schema(prompt.model, sampling.json_schema)
                answer = self._answer(resident, prompt, sampling, num_max_tokens, asked_at)
                async with contextlib.aclosing(answer):
                    async for step in answer:
                        yield step

    def _answer(
        self,
        resident: Resident,
        prompt: Prompt,
        sampling: Sampling,
        num_max_tokens: int,
        asked_at: float,
    ) -> AsyncGenerator[Generation, None]:
        """In a place that is held by now: a search keeps it from question to question."""

        def sample(settled: Sampling) -> AsyncGenerator[Generation, None]:
            request = completion_request(prompt, settled, num_max_tokens)
            return self._complete(resident, request, asked_at)

        def search() -> AsyncGenerator[Generation, None]:
            return beam_search(self._questions(prompt), sampling, num_max_tokens, asked_at)

        return resident.reading_ahead.remembered(prompt, decode(prompt, sampling, sample, search))

    def _questions(self, prompt: Prompt) -> Questions:
        async def read() -> PromptWasRead:
            return await self._ask(prompt.model, lambda one: prefill(one.http, prompt.ids))

        async def after(said: tuple[int, ...], num: int) -> Outlook:
            ids = prompt.ids + said
            return await self._ask(prompt.model, lambda one: one.foresight.after(ids, num))

        return Questions(read, after)

    async def _complete(
        self, resident: Resident, request: bytes, asked_at: float
    ) -> AsyncGenerator[Generation, None]:
        """Tried twice while nothing was heard, so that a death in between is not noticed."""
        for is_final in (False, True):
            if not resident.is_ready:
                yield Delayed("loading")
            await resident.until_ready(self._settings.engine_wait_s)
            steps = complete(resident.http, request, asked_at, resident.template.ids_of_text)
            try:
                async with contextlib.aclosing(steps):
                    async for step in steps:
                        is_final = True  # what was heard cannot be unsaid
                        yield step
            except (EngineDown, EngineLost):
                resident.doubt()
                if is_final:
                    raise
            else:
                return

    async def prefill(self, prompt: Prompt) -> Prefilled:
        async def read() -> Prefilled:
            resident = await self._find_loaded(prompt.model)
            async with resident.slots.hold(prompt.num_tokens):
                return await resident.reading_ahead.read(prompt, self._spare_time)

        try:
            return await self._spare_time.use(read, reads=prompt)
        except GaveWay:
            return Prefilled()

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        async def say() -> str:
            resident = await self._find_loaded(prompt.model)
            num_max_tokens = self._room(resident, prompt, sampling)
            async with resident.slots.hold(prompt.num_tokens + num_max_tokens):
                await resident.reading_ahead.read(prompt, self._spare_time)
                now = time.perf_counter()
                return await text_of(self._answer(resident, prompt, sampling, num_max_tokens, now))

        return await self._spare_time.use(say, can_wait=can_wait)

    async def _ask(self, model: str, question: Callable[[Resident], Awaitable[T]]) -> T:
        """Asked again once, should the engine have died under the question."""
        resident = await self._find(model)
        try:
            return await question(resident)
        except (EngineDown, EngineLost):
            resident.doubt()
        await resident.until_ready(self._settings.engine_wait_s)
        return await question(resident)

    async def _check_known(self, name: str) -> None:
        """A path is a name too, of a file that is none of the caller's business."""
        known = {weights.name for weights in await self._residents.installed()}
        if name not in known | {offer.name for offer in await self.offers()}:
            raise UnknownModel(f"{name!r} is not on this machine.", param="model")

    async def _find(self, name: str) -> Resident:
        if name in AUTO:
            return await self._residents.find_default()
        return await self._residents.find(name)

    async def _find_loaded(self, name: str) -> Resident:
        """Raises EngineDown rather than load it."""
        await self._residents.require_ready(name)
        return await self._residents.find(name)

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
            is_default=self._residents.is_default(weights.name),
            good_at=self._catalogue.good_at(weights),
            can_foresee=True,
            is_exact=self._residents.is_exact(weights.name),
        )

    def _room(self, resident: Resident, prompt: Prompt, sampling: Sampling) -> int:
        """How long the answer may get."""
        num_left = resident.num_window_tokens - prompt.num_tokens
        if num_left < 1:
            raise PromptTooLong(
                f"The message takes {prompt.num_tokens} tokens, and {resident.weights.title} "
                f"reads {resident.num_window_tokens}, its answer included.",
                param="messages",
            )
        return min(sampling.max_tokens or self._settings.max_answer_tokens, num_left)

    async def _check_schema(self, model: str, json_schema: str | None) -> None:
        """Once for each: llama.cpp answers freely, in silence, when it cannot hold to one."""

        async def is_followed(resident: Resident) -> bool:
            token_id = (await resident.template.ids_of_text(NO_JSON))[0]
            return await follows_schema(resident.http, json_schema or "", token_id)

        if json_schema is None or json_schema in self._known_schemas:
            return
        if not await self._ask(model, is_followed):
            raise Refused("No answer can be made to follow this JSON Schema.")
        self._known_schemas[json_schema] = None


def _check_bias(resident: Resident, sampling: Sampling) -> None:
    num_tokens = resident.template.tokenizer.vocabulary.num_tokens
    for token_id, _ in sampling.logit_bias or ():
        if token_id >= num_tokens:
            raise Refused(
                f"`logit_bias` names token {token_id}; the last one is {num_tokens - 1}.",
                param="logit_bias",
            )
