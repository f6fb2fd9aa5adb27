"""Which models are in memory: the one that answers by default, and at most one beside it.

A first start brings up the small model at once, fetches the good one behind, and changes over
when that is loaded. What was begun on the old one ends there. What fails is tried again later.
"""

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Iterator

from hitsend.engine.catalogue import Catalogue
from hitsend.engine.contract import Download, EngineStatus
from hitsend.engine.resident import Resident
from hitsend.engine.spare_time import SpareTime
from hitsend.engine.weights import Weights
from hitsend.errors import Conflict, EngineDown, Refused, Unavailable, UnknownModel
from hitsend.settings import Settings

NUM_RESIDENTS = 2
LOADING_S = 600.0
FIRST_RETRY_S, LONGEST_RETRY_S = 5.0, 600.0
UNUSED_S = 5.0
"""How long the old model stays after the change, for turns between two of its steps."""


class Residents:
    def __init__(self, settings: Settings, catalogue: Catalogue, spare_time: SpareTime) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._spare_time = spare_time
        self._residents: dict[str, Resident] = {}
        self._default: Resident | None = None
        self._is_decided = asyncio.Event()
        self._downloads: dict[str, Download] = {}
        self._problem: str | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._changes: set[asyncio.Task[None]] = set()
        """What comes into memory and what leaves it. Run to their end, whoever asked for them
        and went away."""

    def start(self) -> None:
        self._tasks.add(asyncio.create_task(self._bring_up()))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._changes:
            await asyncio.wait(self._changes)
        while self._residents:
            await self._residents.popitem()[1].close()

    async def find(self, name: str) -> Resident:
        """The model of that name, ready. Loads it when it is on this machine."""
        resident = self._residents.get(name)
        if resident is None:
            weights = await self._on_disk(name)
            resident = await self._load(weights)
        await resident.until_ready(self._settings.engine_wait_s)
        return resident

    async def find_default(self) -> Resident:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.engine_wait_s):
                await self._is_decided.wait()
        if self._default is None:
            raise EngineDown(self.status().detail, retry_after_s=5.0)
        await self._default.until_ready(self._settings.engine_wait_s)
        return self._default

    async def require_ready(self, name: str | None) -> None:
        """Raises EngineDown unless that model, or the default, can answer now. Loads nothing."""
        if resident := self._residents.get(name) if name else self._default:
            return await resident.until_ready(0)
        if name is None:
            raise EngineDown(self.status().detail, retry_after_s=5.0)
        title = (await self._on_disk(name)).title
        raise EngineDown(f"{title} is not loaded. It will be when a message is sent to it.")

    def is_ready(self, name: str) -> bool:
        resident = self._residents.get(name)
        return resident is not None and resident.is_ready

    async def unload(self, name: str) -> None:
        """Out of memory, so that its weights can go. Raises Conflict while it is needed."""
        if self.is_default(name) or name == self._wanted()[-1]:
            raise Conflict(f"{name} is the model that answers by default: it has to stay.")
        if (resident := self._residents.get(name)) is None:
            return
        if not resident.slots.is_idle:
            raise Conflict(f"{resident.weights.title} is answering. Wait until it has finished.")
        await self._let_go(resident)

    async def installed(self) -> list[Weights]:
        """Those on this machine, the default first."""
        found = await asyncio.to_thread(self._catalogue.installed)
        return sorted(found, key=lambda weights: (not self.is_default(weights.name), weights.name))

    def is_default(self, name: str) -> bool:
        return self._default is not None and self._default.weights.name == name

    def is_exact(self, name: str) -> bool | None:
        resident = self._residents.get(name)
        return resident.is_exact if resident else None

    def status(self) -> EngineStatus:
        slots = [resident.slots for resident in self._residents.values()]
        if self._default:
            state, detail = self._default.state, self._default.detail
        elif self._problem:
            state, detail = "down", self._problem
        else:
            state, detail = "starting", " ".join(r.detail for r in self._residents.values())
        downloads = self._catalogue.without_arrived(self._downloads.values())
        return EngineStatus(
            state=state,
            detail=" ".join(part for part in (detail, *map(_told, downloads)) if part)
            or "The engine is starting.",
            num_busy_slots=sum(one.num_busy for one in slots),
            num_slots=sum(one.num_slots for one in slots),
            num_waiting=sum(one.num_waiting for one in slots),
            downloads=downloads,
        )

    async def _on_disk(self, name: str) -> Weights:
        found = await self.installed()
        for weights in found:
            if weights.name == name:
                return weights
        names = ", ".join(weights.name for weights in found) or "none yet"
        raise UnknownModel(f"There is no model {name!r} here. There is: {names}.", param="model")

    async def _load(self, weights: Weights) -> Resident:
        """What nobody waits for may use the model that has to leave. It is ended first."""
        with self._spare_time.person():
            await self._spare_time.end()
            return self._residents.get(weights.name) or self._take_place(weights)

    def _take_place(self, weights: Weights) -> Resident:
        """No one can come between: its place is taken at once, and it starts when it is free."""
        leaving = self._leaving() if len(self._residents) >= NUM_RESIDENTS else None
        resident = Resident(weights, self._settings)
        if leaving:
            del self._residents[leaving.weights.name]
        self._residents[weights.name] = resident
        self._change(self._start(resident, leaving))
        return resident

    async def _start(self, resident: Resident, leaving: Resident | None) -> None:
        if leaving:
            await leaving.close()
        if self._residents.get(resident.weights.name) is resident:  # it had not to leave itself
            resident.start()

    async def _let_go(self, resident: Resident) -> None:
        del self._residents[resident.weights.name]
        await asyncio.shield(self._change(resident.close()))

    def _change(self, change: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._changes.discard)
        return task

    def _leaving(self) -> Resident:
        """The one that was not used for longest, of those nobody is using."""
        idle = [
            resident
            for resident in self._residents.values()
            if resident is not self._default and resident.slots.is_idle
        ]
        if not idle:
            raise EngineDown(
                "Another model is answering in the only place left. Try again in a moment.",
                retry_after_s=10.0,
            )
        return min(idle, key=lambda resident: resident.used_at)

    # From the first start to the model that should answer.

    async def _bring_up(self) -> None:
        *first, wanted = self._wanted()
        for retry_s in _retries():
            for name in first:
                if self._default is None:
                    await self._bring(name)
            if await self._bring(wanted):
                return
            await asyncio.sleep(retry_s)

    def _wanted(self) -> tuple[str, ...]:
        """What to try, in this order; the last is the one that should answer in the end."""
        if self._settings.model != "auto":
            return (self._settings.model,)
        if self._catalogue.find(self._catalogue.default):
            return (self._catalogue.default,)
        return (self._catalogue.small, self._catalogue.default)

    async def _bring(self, name: str) -> bool:
        try:
            weights = await self._catalogue.pull(name, self._take_progress)
            self._downloads.pop(name, None)
            resident = self._residents.get(weights.name) or await self._load(weights)
            await resident.until_ready(LOADING_S)
        except (Refused, Unavailable) as error:
            self._take_problem(name, error.message)
            return False
        self._change_to(resident)
        return True

    def _take_progress(self, download: Download) -> None:
        self._downloads[download.name] = download

    def _take_problem(self, name: str, problem: str) -> None:
        self._problem = problem
        self._is_decided.set()
        if (download := self._downloads.get(name)) is not None:
            done, total = download.num_done_bytes, download.num_bytes
            self._downloads[name] = Download(name, done, total, problem)

    def _change_to(self, resident: Resident) -> None:
        before, self._default = self._default, resident
        self._problem = None
        self._is_decided.set()
        if before and before is not resident:
            self._tasks.add(asyncio.create_task(self._retire(before)))

    async def _retire(self, resident: Resident) -> None:
        is_unused = False
        while not is_unused:
            await asyncio.sleep(UNUSED_S)
            unused_s = time.monotonic() - resident.used_at
            is_unused = unused_s > UNUSED_S and resident.slots.is_idle
        if self._residents.get(resident.weights.name) is resident:
            await self._let_go(resident)


def _retries() -> Iterator[float]:
    retry_s = FIRST_RETRY_S
    while True:
        yield retry_s
        retry_s = min(retry_s * 2, LONGEST_RETRY_S)


def _told(download: Download) -> str:
    if download.problem:
        return f"{download.name} could not be fetched: {download.problem}"
    percent = 100 * download.num_done_bytes // max(download.num_bytes, 1)
    return f"{download.name} is being fetched: {percent} %."
