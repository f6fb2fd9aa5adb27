"""The encoder in a process of its own: started at once, kept running, started again if it dies.

It is not ended when it is idle: a message must not wait for it to load.
"""

import asyncio
import contextlib
import logging
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextvars import Context
from pathlib import Path

from hitsend.errors import EngineDown
from hitsend.safety.encoder.child import LENGTH, READY

log = logging.getLogger(__name__)

CHILD = "hitsend.safety.encoder.child"
MODEL_FILE, VOCABULARY_FILE = "encoder.onnx", "vocabulary.txt"
NUM_BYTES = 4 * 384
MAX_TEXT_BYTES = 1 << 20
LOADING_S, REPLY_S = 20.0, 5.0
RETRY_S = 5.0
"""After a failed start, texts are refused at once for this time."""


class ChildEncoder:
    """Turns texts into vectors. One text at a time: callers take turns, so that a long document
    does not keep a short message waiting."""

    def __init__(self, folder: Path, sha256: str = "") -> None:
        self._command = [str(folder / MODEL_FILE), str(folder / VOCABULARY_FILE), sha256]
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._starting: asyncio.Task[object] | None = None
        self._exchanges: set[asyncio.Task[bytes]] = set()
        self._retry_at = 0.0
        self._is_closed = False

    @property
    def is_ready(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Returns at once; the process loads in the background."""
        # It outlives the turn that may have started it, so its log lines are not that turn's.
        self._starting = asyncio.create_task(self._warm_up(), context=Context())

    async def close(self) -> None:
        self._is_closed = True
        tasks = {task for task in (self._starting, *self._exchanges) if task}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._end_process()

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Raises EngineDown."""
        return [await self._embed_one(text) for text in texts]

    async def _embed_one(self, text: str) -> bytes:
        """The exchange goes on if the caller is cancelled: its reply has to be read."""
        task = asyncio.create_task(self._exchange_in_turn(text), context=Context())
        self._exchanges.add(task)
        task.add_done_callback(self._forget)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if self._is_closed:
                raise EngineDown("The safety classifier is closed.") from None
            raise

    def _forget(self, task: "asyncio.Task[bytes]") -> None:
        self._exchanges.discard(task)
        if not task.cancelled():
            task.exception()  # a caller that was cancelled does not read it

    async def _warm_up(self) -> None:
        with contextlib.suppress(EngineDown):  # it is logged, and tried again by the first text
            async with self._lock:
                await self._running()

    async def _exchange_in_turn(self, text: str) -> bytes:
        content = text.encode(errors="replace")[:MAX_TEXT_BYTES]
        async with self._lock:
            with contextlib.suppress(EngineDown):
                return await self._exchange(content)
            return await self._exchange(content)  # once more, if the process died

    async def _exchange(self, content: bytes) -> bytes:
        process = await self._running()
        assert process.stdin
        assert process.stdout
        try:
            async with asyncio.timeout(REPLY_S):
                process.stdin.write(LENGTH.pack(len(content)) + content)
                await process.stdin.drain()
                return await process.stdout.readexactly(NUM_BYTES)
        except (OSError, EOFError, TimeoutError) as error:
            log.warning("the safety classifier's process died or hangs and is started again")
            await self._end_process()
            raise EngineDown("The safety classifier is starting again.") from error

    async def _running(self) -> Process:
        if self._process and self._process.returncode is None:
            return self._process
        if self._is_closed or time.monotonic() < self._retry_at:
            raise EngineDown("The safety classifier is not running.", retry_after_s=RETRY_S)
        try:
            self._process = await self._start_process()
        except (OSError, EOFError, TimeoutError) as error:
            self._retry_at = time.monotonic() + RETRY_S
            reason = await self._end_process()
            log.error("the safety classifier cannot be started: %s", reason or error)
            raise EngineDown("The safety classifier cannot be started.") from error
        return self._process

    async def _start_process(self) -> Process:
        """Runs Python isolated (-I), so that our environment cannot change what it imports; and in
        a session of its own, so that Ctrl-C reaches only the server, which drains first."""
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", CHILD, *self._command),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_env(),
            start_new_session=True,
        )
        assert process.stdout
        async with asyncio.timeout(LOADING_S):
            if await process.stdout.readexactly(len(READY)) != READY:
                raise EOFError("it said something unexpected")
        return process

    async def _end_process(self) -> str:
        """Returns the last line of what it wrote to stderr."""
        process, self._process = self._process, None
        if process is None:
            return ""
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        _, errors = await process.communicate()
        lines = errors.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def _env() -> dict[str, str]:
    """Our environment without hitsend's settings: some are secrets, and the child needs none."""
    return {name: value for name, value in os.environ.items() if not name.startswith("HITSEND_")}
