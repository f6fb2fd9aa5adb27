"""A model in memory that answers: its process, and what can be asked of it.

Which models are in memory, and who is asking, is not known here.
"""

import asyncio
import os
import secrets
import sys
import time
from pathlib import Path

from hitsend.engine.child import Launch
from hitsend.engine.foresight import Foresight
from hitsend.engine.parity import DIFFER, is_exact
from hitsend.engine.reading_ahead import ReadingAhead
from hitsend.engine.slots import Slots
from hitsend.engine.supervised import Supervised, private_socket
from hitsend.engine.template import Properties, Template
from hitsend.engine.tokenizer import Tokenizer
from hitsend.engine.upstream import read_answer
from hitsend.engine.vocabulary import read_vocabulary
from hitsend.engine.weights import Weights
from hitsend.settings import Settings

POOL_TOKENS_PER_SLOT = 4096
"""Memory for so many is set aside for each slot; a longer answer borrows from the others."""
BATCH_TOKENS = 128
"""Measured on CPU: reading is as fast as with 2048, and everyone else waits 16 times less."""
BATCH_TOKENS_OF_BINARY = 512
CACHE_MIB = 1024
MAX_PING_S = 30


class Resident(Supervised):
    def __init__(self, weights: Weights, settings: Settings) -> None:
        launch = _launch(weights, settings, private_socket())
        super().__init__(weights.title, launch, settings.engine_silence_s, _remedy(weights))
        self.weights = weights
        self.num_window_tokens = min(settings.num_window_tokens, weights.num_window_tokens)
        self.used_at = time.monotonic()
        self.slots = Slots(settings.num_slots, launch.num_pool_tokens)
        self.reading_ahead = ReadingAhead(self.http)
        self.foresight = Foresight(self.http)
        self.is_exact: bool | None = None
        self._tokenizer: Tokenizer | None = None
        self._template: Template | None = None
        self._comparing: asyncio.Task[None] | None = None

    async def until_ready(self, wait_s: float) -> None:
        self.used_at = time.monotonic()
        await super().until_ready(wait_s)

    async def until_compared(self) -> None:
        """Until it is known whether it is exact, or cannot be known."""
        if self._comparing:
            await asyncio.wait([self._comparing])

    async def close(self) -> None:
        if self._comparing:
            self._comparing.cancel()
            await asyncio.wait([self._comparing])
        await super().close()

    @property
    def template(self) -> Template:
        assert self._template, "nobody may ask before it is ready"
        return self._template

    async def _live(self) -> None:
        """A file that does not hold together is refused here, before llama.cpp sees it."""
        if self._tokenizer is None:
            vocabulary = await asyncio.to_thread(read_vocabulary, self.weights.path)
            self._tokenizer = Tokenizer(self.http, vocabulary)
        await super()._live()

    async def _get_to_know(self) -> None:
        assert self._tokenizer, "the vocabulary is read first"
        answer = await self.http.request("GET", "/props")
        self._template = Template(self.http, self._tokenizer, read_answer(answer, Properties))
        self.reading_ahead = ReadingAhead(self.http)  # a new process remembers nothing

    def _become_ready(self) -> None:
        super()._become_ready()
        if self.is_exact is None:  # nobody waits for it
            self._comparing = asyncio.create_task(self._compare())
        self._tell_difference()

    async def _compare(self) -> None:
        self.is_exact = await is_exact(self.weights.name, self.template)
        self._tell_difference()

    def _tell_difference(self) -> None:
        if self.is_exact is False and self.state == "ready":
            self.detail = f"{self.title} is ready, but its prompts {DIFFER}."


def _remedy(weights: Weights) -> str:
    return (
        f"Fetch them again (hitsend models remove {weights.name}, then pull), "
        "or choose another model."
    )


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
