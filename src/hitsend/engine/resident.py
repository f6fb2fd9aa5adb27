"""A model in memory: its process, kept alive, and what can be asked of it.

The process is started again when it dies or hangs, at once at first and then less and less
often. Which models are in memory, and who is asking, is not known here.
"""

import asyncio
import logging
import os
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

from hitsend.engine.child import Launch
from hitsend.engine.contract import State
from hitsend.engine.http import Address, Http
from hitsend.engine.process import ModelProcess
from hitsend.engine.reading_ahead import ReadingAhead
from hitsend.engine.slots import Slots
from hitsend.engine.template import Properties, Template
from hitsend.engine.tokenizer import Tokenizer
from hitsend.engine.upstream import read_answer
from hitsend.engine.vocabulary import read_vocabulary
from hitsend.engine.weights import Weights
from hitsend.errors import EngineDown, EngineLost, ModelBroken
from hitsend.settings import Settings

log = logging.getLogger(__name__)

POOL_TOKENS_PER_SLOT = 4096
"""Memory for so many is set aside for each slot; a longer answer borrows from the others."""
BATCH_TOKENS = 128
"""Measured on CPU: reading is as fast as with 2048, and everyone else waits 16 times less."""
BATCH_TOKENS_OF_BINARY = 512
CACHE_MIB = 1024

FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 30.0
STEADY_S = 60.0
"""A process that lived so long died of something new."""
WATCH_S = 5.0
MAX_PING_S = 30
NUM_TRIES = 2
"""Failures to load in a row after which the weights are held to be broken."""


class Resident:
    def __init__(self, weights: Weights, settings: Settings) -> None:
        self.weights = weights
        self.state: State = "starting"
        self.detail = f"{weights.title} is loading."
        self.num_window_tokens = min(settings.num_window_tokens, weights.num_window_tokens)
        self.used_at = time.monotonic()
        self._folder = Path(tempfile.mkdtemp(prefix="hitsend-"))
        self._launch = _launch(weights, settings, self._folder / "engine.sock")
        self.http = Http(
            Address("localhost", socket=Path(self._launch.socket)),
            self._launch.key,
            settings.engine_silence_s,
        )
        self.slots = Slots(settings.num_slots, self._launch.num_pool_tokens)
        self.reading_ahead = ReadingAhead(self.http)
        self._is_settled = asyncio.Event()
        self._is_doubted = asyncio.Event()
        self._problem: str | None = None
        self._num_failures = 0
        self._keeper: asyncio.Task[None] | None = None
        self._tokenizer: Tokenizer | None = None
        self._template: Template | None = None

    def start(self) -> None:
        self._keeper = asyncio.create_task(self._keep_alive())

    async def close(self) -> None:
        if self._keeper:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        self.state = "down"
        shutil.rmtree(self._folder, ignore_errors=True)

    async def until_ready(self, wait_s: float) -> None:
        """Raises ModelBroken when it never will be, EngineDown when it takes too long."""
        self.used_at = time.monotonic()
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

    @property
    def template(self) -> Template:
        assert self._template, "nobody may ask before it is ready"
        return self._template

    # Its life.

    async def _keep_alive(self) -> None:
        delay_s = FIRST_DELAY_S
        while True:
            began_at = time.monotonic()
            try:
                await self._live()
            except (ModelBroken, EngineDown, EngineLost) as error:
                self._fail_to_load(error.message)
            else:
                self._die()
            lived_s = time.monotonic() - began_at
            delay_s = FIRST_DELAY_S if lived_s > STEADY_S else min(delay_s * 2, LONGEST_DELAY_S)
            await asyncio.sleep(delay_s)

    async def _live(self) -> None:
        """Returns when the process has died or hangs; raises when it did not get that far."""
        if self._tokenizer is None:
            vocabulary = await asyncio.to_thread(read_vocabulary, self.weights.path)
            self._tokenizer = Tokenizer(self.http, vocabulary)
        process = await ModelProcess.start(self._launch)
        try:
            await process.until_ready(self.http)
            self._template = await self._read_template(self._tokenizer)
            self._become_ready()
            await self._watch(process)
        finally:
            self.http.close()
            await process.end()

    async def _read_template(self, tokenizer: Tokenizer) -> Template:
        answer = await self.http.request("GET", "/props")
        return Template(self.http, tokenizer, read_answer(answer, Properties))

    async def _watch(self, process: ModelProcess) -> None:
        while not await process.has_ended(WATCH_S, unless=self._is_doubted):
            self._is_doubted.clear()
            try:
                await self.http.request("GET", "/health")
            except (EngineDown, EngineLost):
                return  # hung, or dead by now; either way it is ended
            self._is_settled.set()

    def _become_ready(self) -> None:
        self.reading_ahead = ReadingAhead(self.http)  # a new process remembers nothing
        self.state, self.detail = "ready", f"{self.weights.title} is ready."
        self._problem, self._num_failures = None, 0
        self._is_doubted.clear()
        self._is_settled.set()

    def _die(self) -> None:
        self.state, self.detail = "restarting", f"{self.weights.title} died and is starting again."
        log.warning("%s", self.detail)
        self._is_settled.clear()

    def _fail_to_load(self, why: str) -> None:
        self._num_failures += 1
        if self._num_failures < NUM_TRIES:
            return
        self._problem = (
            f"{self.weights.title} cannot be loaded: {why.rstrip('.')}. "
            f"The weights are {self.weights.path}. Fetch them again "
            f"(hitsend models remove {self.weights.name}, then pull), or choose another model."
        )
        self.state, self.detail = "down", self._problem
        self._is_settled.set()
        log.error("%s", self._problem)


def _launch(weights: Weights, settings: Settings, socket: Path) -> Launch:
    num_window_tokens = min(settings.num_window_tokens, weights.num_window_tokens)
    num_shared_tokens = settings.num_slots * min(num_window_tokens, POOL_TOKENS_PER_SLOT)
    binary = settings.llama_server
    return Launch(
        weights=str(weights.path),
        socket=str(socket),
        key=secrets.token_urlsafe(32),
        num_slots=settings.num_slots,
        num_pool_tokens=max(num_window_tokens, num_shared_tokens),
        num_threads=settings.num_threads or _num_cores(),
        num_batch_tokens=BATCH_TOKENS_OF_BINARY if binary else BATCH_TOKENS,
        num_cache_mib=CACHE_MIB,
        ping_s=max(1, min(MAX_PING_S, int(settings.engine_silence_s / 3))),
        binary=str(binary) if binary else None,
    )


def _num_cores() -> int:
    """Those this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
