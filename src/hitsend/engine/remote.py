"""An engine that runs elsewhere: any OpenAI-compatible server.

vLLM and llama-server are spoken to in tokens, every other server in chat messages, the lesser
level: see `dialects`. This file keeps up with how the server is and which models it has.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

import msgspec

from hitsend.engine.contract import (
    EngineStatus,
    GaveWay,
    Generation,
    ModelFacts,
    Offer,
    Pieces,
    Prefilled,
    Prompt,
)
from hitsend.engine.decoding import for_model
from hitsend.engine.dialects import Dialect, RemoteModel, recognise
from hitsend.engine.http import Http, parse_address
from hitsend.engine.parity import DIFFER, is_exact
from hitsend.engine.spare_time import SpareTime, text_of
from hitsend.engine.upstream import KeyRefused, read_answer
from hitsend.errors import EngineDown, HitsendError, Unavailable, UnknownModel
from hitsend.messages import Message, Sampling, Tool
from hitsend.settings import BadSetting, Settings

REFRESH_S = 30.0
RETRY_S = 1.0
NOT_OURS = "The remote engine's models are fetched and removed where it runs."
LOOK_S = 10.0
"""How long the server may take to say which models it has."""


class _ModelList(msgspec.Struct, frozen=True):
    data: tuple[RemoteModel, ...] = ()


class RemoteEngine:
    def __init__(self, settings: Settings) -> None:
        if not settings.engine_url:
            raise BadSetting("The remote engine needs `engine_url` (HITSEND_ENGINE_URL).")
        url = settings.engine_url.rstrip("/").removesuffix("/v1")
        self._http = Http(parse_address(url), settings.engine_key, settings.engine_silence_s)
        self._settings = settings
        self._dialect: Dialect | None = None
        self._models: tuple[ModelFacts, ...] = ()
        self._exact: dict[str, bool | None] = {}
        self._problem: HitsendError | None = None
        self._known = asyncio.Event()
        """Set while waiting would change nothing: the server is there, or refuses our key."""
        self._look_again = asyncio.Event()
        self._keeping_up: asyncio.Task[None] | None = None
        self._num_busy = 0
        self._spare_time = SpareTime()

    async def start(self) -> None:
        self._keeping_up = asyncio.create_task(self._keep_up())

    async def close(self) -> None:
        if self._keeping_up is not None:
            self._keeping_up.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping_up
        self._http.close()

    def status(self) -> EngineStatus:
        if self._problem is not None:
            return EngineStatus("down", self._problem.message, self._num_busy)
        if self._dialect is None:
            return EngineStatus("starting", "Looking for the remote engine.")
        how = "in tokens" if self._dialect.level == "tokens" else "in chat messages"
        told = f"The remote engine answers, {how}."
        differing = [model.name for model in self._models if model.is_exact is False]
        if differing:
            told += f" The prompts of {', '.join(differing)} {DIFFER}."
        return EngineStatus("ready", told, self._num_busy)

    async def models(self) -> Sequence[ModelFacts]:
        return self._models

    async def offers(self) -> Sequence[Offer]:
        """Whoever runs the server chooses its models."""
        return ()

    async def fetch(self, name: str) -> None:
        raise UnknownModel(NOT_OURS, param="model")

    async def remove(self, name: str) -> None:
        raise UnknownModel(NOT_OURS, param="model")

    async def require_ready(self, name: str) -> None:
        """Which models are in memory there is not ours to know."""
        await self.resolve(name)

    async def resolve(self, name: str) -> ModelFacts:
        await self._wait_until_known()
        if (facts := self._find(name)) is None:
            await self._look()  # it may be new
            facts = self._find(name)
        if facts is None:
            raise UnknownModel(f"The remote engine has no model {name!r}.", param="model")
        return facts

    async def encode(
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        facts = await self.resolve(model)
        return await self._speaking().encode(facts, messages, tools)

    async def tokenize(self, model: str, text: str) -> Pieces:
        facts = await self.resolve(model)
        return await self._speaking().tokenize(facts.name, text)

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._speaking().spell(prompt)

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[Generation, None]:
        """Who goes first there is the server's to decide."""
        with self._spare_time.person():
            await self._spare_time.end(prompt)
            async with aclosing(self._generate(prompt, sampling)) as generation:
                async for step in generation:
                    yield step

    async def prefill(self, prompt: Prompt) -> Prefilled:
        async def read() -> Prefilled:
            return await self._speaking().prefill(prompt, self._spare_time)

        try:
            return await self._spare_time.use(read, reads=prompt)
        except GaveWay:
            return Prefilled()

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        async def say() -> str:
            settled = for_model(sampling, can_foresee=self._speaking().can_foresee)
            return await text_of(self._generate(prompt, settled))

        return await self._spare_time.use(say, can_wait=can_wait)

    async def _generate(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Generation, None]:
        self._num_busy += 1
        try:
            async with aclosing(self._speaking().generate(prompt, sampling)) as generation:
                async for step in generation:
                    yield step
        except Unavailable:
            self._look_again.set()
            raise
        finally:
            self._num_busy -= 1

    async def _keep_up(self) -> None:
        while True:
            self._look_again.clear()
            try:
                await self._look()
                await self._compare()
            except HitsendError as error:
                self._lose(error)
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_S if self._problem else REFRESH_S):
                    await self._look_again.wait()

    async def _look(self) -> None:
        try:
            async with asyncio.timeout(LOOK_S):
                models = await self._list_models()
                if self._dialect is None:
                    self._dialect = await recognise(self._http, models)
        except TimeoutError:
            raise EngineDown("The remote engine does not say which models it has.") from None
        self._models = self._facts(models, self._dialect)
        self._problem = None
        self._known.set()

    async def _compare(self) -> None:
        """Nobody waits for it: whoever asks is answered meanwhile."""
        for model in self._models:
            templated = self._speaking().templated(model.name)
            if templated is None or self._exact.get(model.name) is not None:
                continue
            self._exact[model.name] = await is_exact(model.name, templated)
        self._models = tuple(
            msgspec.structs.replace(model, is_exact=self._exact.get(model.name))
            for model in self._models
        )

    def _lose(self, error: HitsendError) -> None:
        self._problem = error
        self._dialect = None  # another server may come back at this address
        self._exact.clear()
        if isinstance(error, KeyRefused):
            self._known.set()
        else:
            self._known.clear()

    async def _wait_until_known(self) -> None:
        try:
            async with asyncio.timeout(self._settings.engine_wait_s):
                await self._known.wait()
        except TimeoutError:
            raise self._problem or EngineDown("The remote engine is not there yet.") from None
        if self._problem is not None:
            raise self._problem

    async def _list_models(self) -> tuple[RemoteModel, ...]:
        answer = await self._http.request("GET", "/v1/models")
        if answer.status == 404 and self._settings.model != "auto":
            return (RemoteModel(self._settings.model),)  # it has no list; we were told a name
        models = read_answer(answer, _ModelList).data
        if not models:
            raise EngineDown("The remote engine has no models.")
        return models

    def _facts(self, models: Sequence[RemoteModel], dialect: Dialect) -> tuple[ModelFacts, ...]:
        names = [model.name for model in models]
        default = self._settings.model if self._settings.model in names else names[0]
        facts = [
            ModelFacts(
                name=model.name,
                title=model.name,
                num_window_tokens=model.max_model_len
                or dialect.num_window_tokens
                or self._settings.num_window_tokens,
                level=dialect.level,
                where="remote",
                can_call_tools=dialect.can_call_tools,
                can_foresee=dialect.can_foresee,
                is_default=model.name == default,
                is_exact=self._exact.get(model.name),
            )
            for model in models
        ]
        return tuple(sorted(facts, key=lambda one: not one.is_default))

    def _find(self, name: str) -> ModelFacts | None:
        wanted = self._settings.model if name == "auto" else name
        if wanted == "auto":
            return self._models[0]
        return next((facts for facts in self._models if facts.name == wanted), None)

    def _speaking(self) -> Dialect:
        if self._dialect is None:
            raise self._problem or EngineDown("The remote engine is not there yet.")
        return self._dialect
