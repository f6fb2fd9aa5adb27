"""Decides which models are loaded: the default model, and at most one other.

The first start loads the small model at once, downloads the better one in the background, and
makes that the default once it is loaded. Running answers finish on the old one. Failures are
retried with backoff.
"""

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Iterator

from hitsend.engine.contract import Download, EngineStatus
from hitsend.engine.idle_queue import IdleQueue
from hitsend.engine.llama.loaded_model import LoadedModel
from hitsend.engine.models.catalogue import Catalogue
from hitsend.engine.models.weights import Weights
from hitsend.errors import Conflict, EngineDown, Refused, Unavailable, UnknownModel
from hitsend.settings import Settings

MAX_LOADED_MODELS = 2
LOADING_S = 600.0
FIRST_RETRY_S, MAX_RETRY_S = 5.0, 600.0
UNUSED_S = 5.0
"""How long the old default must be unused before it is unloaded: a turn may be between two
requests."""


class LoadedModels:
    def __init__(self, settings: Settings, catalogue: Catalogue, idle_queue: IdleQueue) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._idle_queue = idle_queue
        self._by_name: dict[str, LoadedModel] = {}
        self._default: LoadedModel | None = None
        self._is_decided = asyncio.Event()
        """Set when there is a default, or a first problem."""
        self._downloads: dict[str, Download] = {}
        self._problem: str | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._changes: set[asyncio.Task[None]] = set()
        """Loads and unloads. They run to their end even if the request that caused them is
        cancelled."""

    def start(self) -> None:
        self._tasks.add(asyncio.create_task(self._load_default()))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._changes:
            await asyncio.wait(self._changes)
        while self._by_name:
            await self._by_name.popitem()[1].close()

    async def find(self, name: str) -> LoadedModel:
        """Returns the model when it is ready. Loads it if its weights are on this machine."""
        model = self._by_name.get(name)
        if model is None:
            weights = await self._find_weights(name)
            model = await self._load(weights)
        await model.wait_until_ready(self._settings.engine_wait_s)
        return model

    async def find_default(self) -> LoadedModel:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.engine_wait_s):
                await self._is_decided.wait()
        if self._default is None:
            raise EngineDown(self.status().detail, retry_after_s=5.0)
        await self._default.wait_until_ready(self._settings.engine_wait_s)
        return self._default

    async def require_ready(self, name: str | None) -> None:
        """Raises EngineDown unless that model, or the default for None, is ready. Loads nothing."""
        if model := self._by_name.get(name) if name else self._default:
            return await model.wait_until_ready(0)
        if name is None:
            raise EngineDown(self.status().detail, retry_after_s=5.0)
        title = (await self._find_weights(name)).title
        raise EngineDown(f"{title} is not loaded. Send it a message to load it.")

    def is_ready(self, name: str) -> bool:
        model = self._by_name.get(name)
        return model is not None and model.is_ready

    async def unload(self, name: str) -> None:
        """Raises Conflict if the model is the default or is generating."""
        if self.is_default(name) or name == self._names_to_load()[-1]:
            raise Conflict(f"{name} is the default model and cannot be removed.")
        if (model := self._by_name.get(name)) is None:
            return
        if not model.slots.is_idle:
            raise Conflict(f"{model.weights.title} is answering. Wait until it has finished.")
        await self._close_model(model)

    async def installed(self) -> list[Weights]:
        """Returns the weights on this machine, the default first."""
        found = await asyncio.to_thread(self._catalogue.installed)
        return sorted(found, key=lambda weights: (not self.is_default(weights.name), weights.name))

    def is_default(self, name: str) -> bool:
        return self._default is not None and self._default.weights.name == name

    def is_exact(self, name: str) -> bool | None:
        model = self._by_name.get(name)
        return model.is_exact if model else None

    def status(self) -> EngineStatus:
        slots = [model.slots for model in self._by_name.values()]
        if self._default:
            state, detail = self._default.state, self._default.detail
        elif self._problem:
            state, detail = "down", self._problem
        else:
            state, detail = "starting", " ".join(model.detail for model in self._by_name.values())
        downloads = self._catalogue.drop_resolved_failures(self._downloads.values())
        return EngineStatus(
            state=state,
            detail=" ".join(part for part in (detail, *map(_describe, downloads)) if part)
            or "The engine is starting.",
            num_busy_slots=sum(one.num_busy for one in slots),
            num_slots=sum(one.num_slots for one in slots),
            num_waiting=sum(one.num_waiting for one in slots),
            downloads=downloads,
        )

    async def _find_weights(self, name: str) -> Weights:
        found = await self.installed()
        for weights in found:
            if weights.name == name:
                return weights
        names = ", ".join(weights.name for weights in found) or "none yet"
        raise UnknownModel(f"There is no model {name!r} here. There is: {names}.", param="model")

    async def _load(self, weights: Weights) -> LoadedModel:
        """Preempts idle work first: it may use the model that is evicted."""
        with self._idle_queue.foreground():
            await self._idle_queue.preempt()
            return self._by_name.get(weights.name) or self._replace_unused(weights)

    def _replace_unused(self, weights: Weights) -> LoadedModel:
        """Registers the model at once, without an await, so that two requests cannot take the same
        place. It starts when the evicted model has closed."""
        evicted = self._least_recently_used() if len(self._by_name) >= MAX_LOADED_MODELS else None
        model = LoadedModel(weights, self._settings)
        if evicted:
            del self._by_name[evicted.weights.name]
        self._by_name[weights.name] = model
        self._run_change(self._start(model, evicted))
        return model

    async def _start(self, model: LoadedModel, evicted: LoadedModel | None) -> None:
        if evicted:
            await evicted.close()
        if self._by_name.get(model.weights.name) is model:  # it may be evicted itself by now
            model.start()

    async def _close_model(self, model: LoadedModel) -> None:
        del self._by_name[model.weights.name]
        await asyncio.shield(self._run_change(model.close()))

    def _run_change(self, change: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._changes.discard)
        return task

    def _least_recently_used(self) -> LoadedModel:
        """Never returns the default or a model that is generating. Raises EngineDown."""
        idle = [
            model
            for model in self._by_name.values()
            if model is not self._default and model.slots.is_idle
        ]
        if not idle:
            raise EngineDown(
                "No other model can be loaded while this one is answering. Try again in a moment.",
                retry_after_s=10.0,
            )
        return min(idle, key=lambda model: model.used_at)

    async def _load_default(self) -> None:
        *fallbacks, wanted = self._names_to_load()
        for retry_s in _retry_delays():
            for name in fallbacks:
                if self._default is None:
                    await self._try_default(name)
            if await self._try_default(wanted):
                return
            await asyncio.sleep(retry_s)

    def _names_to_load(self) -> tuple[str, ...]:
        """The last name is the intended default; those before it bridge its download."""
        if self._settings.model != "auto":
            return (self._settings.model,)
        if self._catalogue.find(self._catalogue.default):
            return (self._catalogue.default,)
        return (self._catalogue.small, self._catalogue.default)

    async def _try_default(self, name: str) -> bool:
        """Downloads and loads a model and makes it the default. Returns whether that worked."""
        try:
            weights = await self._catalogue.pull(name, self._record_progress)
            self._downloads.pop(name, None)
            model = self._by_name.get(weights.name) or await self._load(weights)
            await model.wait_until_ready(LOADING_S)
        except (Refused, Unavailable) as error:
            self._record_problem(name, error.message)
            return False
        self._set_default(model)
        return True

    def _record_progress(self, download: Download) -> None:
        self._downloads[download.name] = download

    def _record_problem(self, name: str, problem: str) -> None:
        self._problem = problem
        self._is_decided.set()
        if (download := self._downloads.get(name)) is not None:
            done, total = download.num_done_bytes, download.num_bytes
            self._downloads[name] = Download(name, done, total, problem)

    def _set_default(self, model: LoadedModel) -> None:
        previous, self._default = self._default, model
        self._problem = None
        self._is_decided.set()
        if previous and previous is not model:
            self._tasks.add(asyncio.create_task(self._unload_when_unused(previous)))

    async def _unload_when_unused(self, model: LoadedModel) -> None:
        is_unused = False
        while not is_unused:
            await asyncio.sleep(UNUSED_S)
            unused_s = time.monotonic() - model.used_at
            is_unused = unused_s > UNUSED_S and model.slots.is_idle
        if self._by_name.get(model.weights.name) is model:
            await self._close_model(model)


def _retry_delays() -> Iterator[float]:
    retry_s = FIRST_RETRY_S
    while True:
        yield retry_s
        retry_s = min(retry_s * 2, MAX_RETRY_S)


def _describe(download: Download) -> str:
    if download.problem:
        return f"{download.name} could not be fetched: {download.problem}"
    percent = 100 * download.num_done_bytes // max(download.num_bytes, 1)
    return f"{download.name} is being fetched: {percent} %."
