"""Supervises one llama.cpp process: restarts it when it dies or hangs, with backoff.

A problem that repeats is logged once. The supervisor does not know what the process is used for.
"""

import asyncio
import logging
import shutil
import tempfile
import time
from collections.abc import Callable
from contextvars import Context
from pathlib import Path

from hitsend.engine.contract import EngineState
from hitsend.engine.http import Address, HttpClient
from hitsend.engine.llama.child import Launch
from hitsend.engine.llama.process import ModelProcess
from hitsend.errors import EngineDown, EngineLost, HitsendError, ModelBroken

log = logging.getLogger(__name__)

FIRST_DELAY_S, MAX_DELAY_S = 0.1, 30.0
STABLE_S = 60.0
"""After this uptime the backoff starts again from the first delay."""
HEALTH_CHECK_S = 5.0
MAX_LOAD_FAILURES = 2
"""After so many failures in a row the weights are considered broken."""


def private_socket() -> Path:
    """Returns a path in a new folder that only this user may enter. `Supervisor.close` removes
    it."""
    return Path(tempfile.mkdtemp(prefix="hitsend-")) / "engine.sock"


class Supervisor:
    def __init__(
        self,
        title: str,
        launch: Launch,
        silence_s: float,
        remedy: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`remedy` is added to the error message if the weights cannot be loaded."""
        self.title = title
        self.state: EngineState = "starting"
        self.detail = f"{title} is loading."
        self.http = HttpClient(
            Address("localhost", socket=Path(launch.socket)), launch.key, silence_s
        )
        self._launch = launch
        self._remedy = remedy
        self._now = now
        self._ready_at: float | None = None
        self._is_settled = asyncio.Event()
        """Set while the process is ready, or known to be broken."""
        self._needs_health_check = asyncio.Event()
        self._problem: str | None = None
        self._last_logged = ""
        """The last problem logged since the process was ready."""
        self._num_load_failures = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        # It outlives the turn that starts it, so its log lines are not that turn's.
        self._task = asyncio.create_task(self._supervise(), context=Context())

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
        self.state = "down"
        shutil.rmtree(Path(self._launch.socket).parent, ignore_errors=True)

    async def wait_until_ready(self, wait_s: float) -> None:
        """Raises ModelBroken if the weights are broken, EngineDown after `wait_s`."""
        try:
            async with asyncio.timeout(wait_s):
                await self._is_settled.wait()
        except TimeoutError:
            raise EngineDown(self.detail, retry_after_s=5.0) from None
        if self._problem:
            raise ModelBroken(self._problem)

    @property
    def is_ready(self) -> bool:
        """Whether `wait_until_ready` returns at once."""
        return self._is_settled.is_set() and self._problem is None

    def request_health_check(self) -> None:
        """Called after a failed request. `wait_until_ready` blocks until the check is done."""
        if self.state == "ready":
            self._is_settled.clear()
            self._needs_health_check.set()

    async def _prepare(self) -> None:
        """Runs once for each new process, before it is ready. For subclasses."""

    async def _supervise(self) -> None:
        delay_s = FIRST_DELAY_S
        while True:
            self._ready_at = None
            await self._run_once()
            is_stable = self._uptime_s() > STABLE_S
            delay_s = FIRST_DELAY_S if is_stable else min(delay_s * 2, MAX_DELAY_S)
            await asyncio.sleep(delay_s)

    def _uptime_s(self) -> float:
        """Loading time does not count."""
        return 0.0 if self._ready_at is None else self._now() - self._ready_at

    async def _run_once(self) -> None:
        """Raises nothing, so that the process is always started again."""
        try:
            await self._run_process()
        except HitsendError as error:
            self._record_load_failure(error.message)
        except Exception as bug:
            # A bug here must not end the loop that starts the process again; the state tells of it.
            self.state, self.detail = "down", f"{self.title} failed and is tried again."
            self._is_settled.clear()
            if repr(bug) != self._last_logged:
                self._last_logged = repr(bug)
                log.exception("%s", self.detail)
        else:
            self._record_death()

    async def _run_process(self) -> None:
        """Returns when the process dies or hangs. Raises if it never became ready."""
        process = await ModelProcess.start(self._launch)
        try:
            await process.wait_until_ready(self.http)
            await self._prepare()
            self._become_ready()
            await self._watch(process)
        finally:
            self.http.close()
            await process.kill()

    async def _watch(self, process: ModelProcess) -> None:
        while not await process.wait_for_end(HEALTH_CHECK_S, unless=self._needs_health_check):
            self._needs_health_check.clear()
            try:
                await self.http.request("GET", "/health")
            except (EngineDown, EngineLost):
                return  # it hangs or is dead; the caller kills it either way
            self._is_settled.set()

    def _become_ready(self) -> None:
        self.state, self.detail = "ready", f"{self.title} is ready."
        self._problem, self._num_load_failures, self._last_logged = None, 0, ""
        self._ready_at = self._now()
        self._needs_health_check.clear()
        self._is_settled.set()

    def _record_death(self) -> None:
        self.state, self.detail = "restarting", f"{self.title} died and is starting again."
        log.warning("%s", self.detail)
        self._is_settled.clear()

    def _record_load_failure(self, why: str) -> None:
        self._num_load_failures += 1
        if self._num_load_failures < MAX_LOAD_FAILURES:
            return
        self._problem = (
            f"{self.title} cannot be loaded: {why.rstrip('.')}. "
            f"The weights are {self._launch.weights}. {self._remedy}"
        )
        self.state, self.detail = "down", self._problem
        self._is_settled.set()
        if self._problem != self._last_logged:
            self._last_logged = self._problem
            log.error("%s", self._problem)
