"""A llama.cpp process that is kept alive, and the way to ask it.

It is started again when it dies or hangs, at once at first and then less and less often. What
keeps it from being loaded is logged once, not at every try. What it is asked for is not known
here.
"""

import asyncio
import logging
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hitsend.engine.child import Launch
from hitsend.engine.contract import State
from hitsend.engine.http import Address, Http
from hitsend.engine.process import ModelProcess
from hitsend.errors import EngineDown, EngineLost, HitsendError, ModelBroken

log = logging.getLogger(__name__)

FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 30.0
STEADY_S = 60.0
"""A process that lived so long died of something new."""
WATCH_S = 5.0
NUM_TRIES = 2
"""Failures to load in a row after which the weights are held to be broken."""


def private_socket() -> Path:
    """In a folder of its own that only this user may enter; closing what listens removes it."""
    return Path(tempfile.mkdtemp(prefix="hitsend-")) / "engine.sock"


class Supervised:
    def __init__(
        self,
        title: str,
        launch: Launch,
        silence_s: float,
        remedy: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`remedy` is told when the weights cannot be loaded."""
        self.title = title
        self.state: State = "starting"
        self.detail = f"{title} is loading."
        self.http = Http(Address("localhost", socket=Path(launch.socket)), launch.key, silence_s)
        self._launch = launch
        self._remedy = remedy
        self._now = now
        self._ready_at: float | None = None
        self._is_settled = asyncio.Event()
        self._is_doubted = asyncio.Event()
        self._problem: str | None = None
        self._logged = ""
        """What was logged last, since it was ready."""
        self._num_failures = 0
        self._keeper: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._keeper = asyncio.create_task(self._keep_alive())

    async def close(self) -> None:
        if self._keeper:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        self.state = "down"
        shutil.rmtree(Path(self._launch.socket).parent, ignore_errors=True)

    async def until_ready(self, wait_s: float) -> None:
        """Raises ModelBroken when it never will be, EngineDown when it takes too long."""
        try:
            async with asyncio.timeout(wait_s):
                await self._is_settled.wait()
        except TimeoutError:
            raise EngineDown(self.detail, retry_after_s=5.0) from None
        if self._problem:
            raise ModelBroken(self._problem)

    @property
    def is_ready(self) -> bool:
        """Whether `until_ready` would return at once."""
        return self._is_settled.is_set() and self._problem is None

    def doubt(self) -> None:
        """Something went wrong in talking to it. Nobody is let in until it was looked after."""
        if self.state == "ready":
            self._is_settled.clear()
            self._is_doubted.set()

    async def _get_to_know(self) -> None:
        """What has to be asked of each new process before anyone else may ask it."""

    async def _keep_alive(self) -> None:
        delay_s = FIRST_DELAY_S
        while True:
            self._ready_at = None
            await self._live_once()
            is_steady = self._lived_s() > STEADY_S
            delay_s = FIRST_DELAY_S if is_steady else min(delay_s * 2, LONGEST_DELAY_S)
            await asyncio.sleep(delay_s)

    def _lived_s(self) -> float:
        """However long it took to load: that is no life."""
        return 0.0 if self._ready_at is None else self._now() - self._ready_at

    async def _live_once(self) -> None:
        """Whatever happens, there is a next time."""
        try:
            await self._live()
        except HitsendError as error:
            self._fail_to_load(error.message)
        except Exception as bug:
            self.state, self.detail = "down", f"{self.title} failed and is tried again."
            self._is_settled.clear()
            if self._is_news(repr(bug)):
                log.exception("%s", self.detail)
        else:
            self._die()

    async def _live(self) -> None:
        """Returns when the process has died or hangs; raises when it did not get that far."""
        process = await ModelProcess.start(self._launch)
        try:
            await process.until_ready(self.http)
            await self._get_to_know()
            self._become_ready()
            await self._watch(process)
        finally:
            self.http.close()
            await process.end()

    async def _watch(self, process: ModelProcess) -> None:
        while not await process.has_ended(WATCH_S, unless=self._is_doubted):
            self._is_doubted.clear()
            try:
                await self.http.request("GET", "/health")
            except (EngineDown, EngineLost):
                return  # hung, or dead by now; either way it is ended
            self._is_settled.set()

    def _become_ready(self) -> None:
        self.state, self.detail = "ready", f"{self.title} is ready."
        self._problem, self._num_failures, self._logged = None, 0, ""
        self._ready_at = self._now()
        self._is_doubted.clear()
        self._is_settled.set()

    def _die(self) -> None:
        self.state, self.detail = "restarting", f"{self.title} died and is starting again."
        log.warning("%s", self.detail)
        self._is_settled.clear()

    def _fail_to_load(self, why: str) -> None:
        self._num_failures += 1
        if self._num_failures < NUM_TRIES:
            return
        self._problem = (
            f"{self.title} cannot be loaded: {why.rstrip('.')}. "
            f"The weights are {self._launch.weights}. {self._remedy}"
        )
        self.state, self.detail = "down", self._problem
        self._is_settled.set()
        if self._is_news(self._problem):
            log.error("%s", self._problem)

    def _is_news(self, what: str) -> bool:
        before, self._logged = self._logged, what
        return what != before
