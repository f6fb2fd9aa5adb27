"""A model in memory: its supervised process, its slots, tokenizer and chat template."""

import asyncio
import os
import secrets
import sys
import time
from pathlib import Path

from hitsend.engine.llama.child import Launch
from hitsend.engine.llama.next_token_probs import NextTokenProbs
from hitsend.engine.llama.prefill import Prefiller
from hitsend.engine.llama.supervisor import Supervisor, private_socket
from hitsend.engine.llama.template import Properties, Template
from hitsend.engine.llama.tokenizer import Tokenizer
from hitsend.engine.llama.vocabulary import read_vocabulary
from hitsend.engine.models.weights import Weights
from hitsend.engine.parity import DIFFER, check_parity
from hitsend.engine.slots import Slots
from hitsend.engine.upstream_errors import read_response
from hitsend.settings import Settings

POOL_TOKENS_PER_SLOT = 4096
"""KV cache reserved for each slot. A longer answer uses that of the other slots."""
BATCH_TOKENS = 128
"""Measured on CPU: prefill is as fast as with 2048, and other answers wait 16 times less."""
BINARY_BATCH_TOKENS = 512
CACHE_MIB = 1024
MAX_PING_S = 30
GUIDED_BYTES = 2_500_000_000
"""Models with smaller weights are guided when they call tools: see `guided_calls`."""


class LoadedModel(Supervisor):
    def __init__(self, weights: Weights, settings: Settings) -> None:
        launch = _launch(weights, settings, private_socket())
        super().__init__(weights.title, launch, settings.engine_silence_s, _remedy(weights))
        self.weights = weights
        self.num_window_tokens = min(settings.num_window_tokens, weights.num_window_tokens)
        self.used_at = time.monotonic()
        self.slots = Slots(settings.num_slots, launch.num_pool_tokens)
        self.prefiller = Prefiller(self.http)
        self.next_token_probs = NextTokenProbs(self.http)
        self.is_exact: bool | None = None
        self._tokenizer: Tokenizer | None = None
        self._template: Template | None = None
        self._parity_check: asyncio.Task[None] | None = None

    async def wait_until_ready(self, wait_s: float) -> None:
        self.used_at = time.monotonic()
        await super().wait_until_ready(wait_s)

    async def wait_for_parity_check(self) -> None:
        """Waits until `is_exact` is set, or cannot be determined."""
        if self._parity_check:
            await asyncio.wait([self._parity_check])

    async def close(self) -> None:
        if self._parity_check:
            self._parity_check.cancel()
            await asyncio.wait([self._parity_check])
        await super().close()

    @property
    def template(self) -> Template:
        assert self._template, "requests wait until the model is ready"
        return self._template

    @property
    def is_guided(self) -> bool:
        return self.weights.num_bytes < GUIDED_BYTES and self.template.has_call_tags

    async def _run_process(self) -> None:
        """Reading the vocabulary validates the file before llama.cpp opens it."""
        if self._tokenizer is None:
            vocabulary = await asyncio.to_thread(read_vocabulary, self.weights.path)
            self._tokenizer = Tokenizer(self.http, vocabulary)
        await super()._run_process()

    async def _prepare(self) -> None:
        assert self._tokenizer, "the vocabulary is read first"
        response = await self.http.request("GET", "/props")
        self._template = Template(self.http, self._tokenizer, read_response(response, Properties))
        self.prefiller = Prefiller(self.http)  # the KV cache of a new process is empty

    def _become_ready(self) -> None:
        super()._become_ready()
        if self.is_exact is None:  # in the background: nobody waits for it
            self._parity_check = asyncio.create_task(self._check_parity())
        self._report_parity()

    async def _check_parity(self) -> None:
        self.is_exact = await check_parity(self.weights.name, self.template)
        self._report_parity()

    def _report_parity(self) -> None:
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
        num_batch_tokens=BINARY_BATCH_TOKENS if binary else BATCH_TOKENS,
        num_cache_mib=CACHE_MIB,
        ping_s=max(1, min(MAX_PING_S, int(settings.engine_silence_s / 3))),
        binary=str(binary) if binary else None,
    )


def _num_cores() -> int:
    """Returns the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
