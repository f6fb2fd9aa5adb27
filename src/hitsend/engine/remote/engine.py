"""The remote engine: any OpenAI-compatible server.

It polls the server's state and models, and forwards requests in the server's dialect: token ids
for vLLM and llama-server, chat messages for all others. See `dialects`.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

import msgspec

from hitsend.engine.contract import (
    Delayed,
    EngineStatus,
    GenerationStep,
    ModelFacts,
    Offer,
    Preempted,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.decoding import fall_back_to_sampling
from hitsend.engine.http import HttpClient, parse_address
from hitsend.engine.idle_queue import IdleQueue, collect_text
from hitsend.engine.parity import DIFFER, check_parity
from hitsend.engine.remote.dialects import Dialect, RemoteModel, detect_dialect
from hitsend.engine.remote.grant import Grant
from hitsend.engine.slots import Slots
from hitsend.engine.upstream_errors import (
    UNREADABLE,
    UNREADABLE_ANSWER,
    KeyRefused,
    read_response,
)
from hitsend.errors import EngineDown, EngineLost, HitsendError, Unavailable, UnknownModel
from hitsend.messages import FREE, AnswerRules, Message, Sampling, Tool
from hitsend.settings import BadSetting, Settings

REFRESH_S = 30.0
RETRY_S = 1.0
CANNOT_MANAGE = "The remote engine's models are fetched and removed where it runs."
LIST_TIMEOUT_S = 10.0
"""How long the server may take to list its models."""
MAX_WINDOW_TOKENS = 2**27
MAX_BESIDE = 4
"""Short texts generated beside people's answers. The server's own queue decides about the rest."""


class _ModelList(msgspec.Struct, frozen=True):
    data: tuple[RemoteModel, ...] = ()


class RemoteEngine:
    def __init__(self, settings: Settings) -> None:
        if not settings.engine_url:
            raise BadSetting("The remote engine needs `engine_url` (HITSEND_ENGINE_URL).")
        url = settings.engine_url.rstrip("/").removesuffix("/v1")
        self._first_token_s = min(settings.engine_first_token_s, settings.engine_silence_s)
        self._http = HttpClient(
            parse_address(url),
            settings.engine_key,
            settings.engine_silence_s,
            first_silence_s=self._first_token_s,
        )
        self._settings = settings
        self._dialect: Dialect | None = None
        self._models: tuple[ModelFacts, ...] = ()
        self._parity: dict[str, bool | None] = {}
        self._problem: HitsendError | None = None
        self._is_settled = asyncio.Event()
        """Set while waiting is pointless: the server is up, or it rejects our key."""
        self._refresh_now = asyncio.Event()
        self._poll_task: asyncio.Task[None] | None = None
        self._num_busy = 0
        self._num_beside = 0
        self._slots = Slots(settings.engine_concurrency)
        self._idle_queue = IdleQueue()

    async def start(self) -> None:
        self._poll_task = asyncio.create_task(self._poll())

    async def close(self) -> None:
        if self._poll_task is not None:
            self._poll_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._poll_task
        self._http.close()

    def status(self) -> EngineStatus:
        if self._problem is not None:
            return EngineStatus("down", self._problem.message, self._num_busy)
        if self._dialect is None:
            return EngineStatus("starting", "Looking for the remote engine.")
        how = "in tokens" if self._dialect.level == "tokens" else "in chat messages"
        detail = f"The remote engine answers, {how}."
        differing = [model.name for model in self._models if model.is_exact is False]
        if differing:
            detail += f" The prompts of {', '.join(differing)} {DIFFER}."
        slots = self._slots
        return EngineStatus(
            "ready",
            detail,
            self._num_busy,
            slots.num_slots,
            slots.num_waiting,
            first_token_s=self._settings.engine_silence_s
            if self._num_busy > 1
            else self._first_token_s,
        )

    async def models(self) -> Sequence[ModelFacts]:
        return self._models

    async def offers(self) -> Sequence[Offer]:
        """Empty: the operator of the server chooses its models."""
        return ()

    async def fetch(self, name: str) -> None:
        raise UnknownModel(CANNOT_MANAGE, param="model")

    async def remove(self, name: str) -> None:
        raise UnknownModel(CANNOT_MANAGE, param="model")

    async def require_ready(self, name: str) -> None:
        """Cannot know which models the server has loaded, so it accepts all of them."""
        await self.resolve(name)

    async def resolve(self, name: str) -> ModelFacts:
        await self._wait_until_settled()
        if (facts := self._find(name)) is None:
            await self._refresh()  # the model may be new
            facts = self._find(name)
        if facts is None:
            raise UnknownModel(f"The remote engine has no model {name!r}.", param="model")
        return facts

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        facts = await self.resolve(model)
        return await self._require_dialect().encode(facts, messages, tools, rules)

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        facts = await self.resolve(model)
        return await self._require_dialect().tokenize(facts.name, text)

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._require_dialect().detokenize(prompt)

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[GenerationStep, None]:
        """Waits for a slot, in turn with other lanes. The server has a queue too, but it is first
        in, first out: all of one person's requests would go before the next person's first."""
        with self._idle_queue.foreground():
            await self._idle_queue.preempt(prompt)
            with self._slots.enqueue(lane=lane) as request:
                async with aclosing(self._slots.watch_queue(request)) as positions:
                    async for num_ahead in positions:
                        yield Delayed("queue", num_ahead)
                async with aclosing(self._generate(prompt, sampling)) as generation:
                    async for step in generation:
                        yield step

    async def prefill(self, prompt: Prompt) -> PrefillResult:
        async def prefill_prompt() -> PrefillResult:
            return await self._require_dialect().prefill(prompt, self._idle_queue)

        return await self._idle_queue.prefill(prompt, prefill_prompt)

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        return await self._idle_queue.run(
            lambda: self._generate_text(prompt, sampling), can_wait=can_wait
        )

    async def generate_beside(self, prompt: Prompt, sampling: Sampling) -> str:
        if self._num_beside >= MAX_BESIDE:
            raise Preempted
        self._num_beside += 1
        try:
            return await self._generate_text(prompt, sampling)
        finally:
            self._num_beside -= 1

    async def _generate_text(self, prompt: Prompt, sampling: Sampling) -> str:
        settled = fall_back_to_sampling(
            sampling, has_next_token_probs=self._require_dialect().has_next_token_probs
        )
        return await collect_text(self._generate(prompt, settled))

    async def _generate(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[GenerationStep, None]:
        grant = Grant(prompt, sampling)
        self._num_busy += 1
        try:
            async with aclosing(self._require_dialect().generate(prompt, sampling)) as generation:
                async for step in generation:
                    yield grant.check(step)
                    if grant.is_exceeded:
                        yield grant.finish()
                        break
        except Unavailable:
            self._refresh_now.set()
            raise
        except UNREADABLE as error:
            raise EngineLost(UNREADABLE_ANSWER) from error
        finally:
            self._num_busy -= 1

    async def _poll(self) -> None:
        while True:
            self._refresh_now.clear()
            try:
                await self._refresh()
                await self._check_parity()
            except HitsendError as error:
                self._mark_down(error)
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_S if self._problem else REFRESH_S):
                    await self._refresh_now.wait()

    async def _refresh(self) -> None:
        try:
            async with asyncio.timeout(LIST_TIMEOUT_S):
                models = await self._list_models()
                if self._dialect is None:
                    self._dialect = await detect_dialect(self._http, models)
        except TimeoutError:
            raise EngineDown("The remote engine does not say which models it has.") from None
        self._models = self._facts(models, self._dialect)
        self._problem = None
        self._is_settled.set()

    async def _check_parity(self) -> None:
        """Runs in the poll task: requests are answered meanwhile."""
        for model in self._models:
            chat_template = self._require_dialect().chat_template(model.name)
            if chat_template is None or self._parity.get(model.name) is not None:
                continue
            self._parity[model.name] = await check_parity(model.name, chat_template)
        self._models = tuple(
            msgspec.structs.replace(model, is_exact=self._parity.get(model.name))
            for model in self._models
        )

    def _mark_down(self, error: HitsendError) -> None:
        self._problem = error
        self._dialect = None  # another kind of server may come up at this address
        self._parity.clear()
        if isinstance(error, KeyRefused):
            self._is_settled.set()
        else:
            self._is_settled.clear()

    async def _wait_until_settled(self) -> None:
        try:
            async with asyncio.timeout(self._settings.engine_wait_s):
                await self._is_settled.wait()
        except TimeoutError:
            raise self._problem or EngineDown("The remote engine has not answered yet.") from None
        if self._problem is not None:
            raise self._problem

    async def _list_models(self) -> tuple[RemoteModel, ...]:
        response = await self._http.request("GET", "/v1/models")
        if response.status == 404 and self._settings.model != "auto":
            return (
                RemoteModel(self._settings.model),
            )  # the server has no list, but the setting names a model
        models = read_response(response, _ModelList).data
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
                num_window_tokens=self._num_window_tokens(
                    model.max_model_len or dialect.num_window_tokens
                ),
                level=dialect.level,
                where="remote",
                can_call_tools=dialect.can_call_tools,
                has_next_token_probs=dialect.has_next_token_probs,
                has_room_beside=True,
                default_sampling=dialect.default_sampling(model.name),
                is_default=model.name == default,
                is_exact=self._parity.get(model.name),
            )
            for model in models
        ]
        return tuple(sorted(facts, key=lambda one: not one.is_default))

    def _num_window_tokens(self, num_reported: int | None) -> int:
        """Returns the setting if the server reports none, or one that cannot be right."""
        if num_reported is None or not 0 < num_reported <= MAX_WINDOW_TOKENS:
            return self._settings.num_window_tokens
        return num_reported

    def _find(self, name: str) -> ModelFacts | None:
        wanted = self._settings.model if name == "auto" else name
        if wanted == "auto":
            return self._models[0]
        return next((facts for facts in self._models if facts.name == wanted), None)

    def _require_dialect(self) -> Dialect:
        if self._dialect is None:
            raise self._problem or EngineDown("The remote engine has not answered yet.")
        return self._dialect
