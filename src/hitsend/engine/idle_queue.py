"""Runs work that no person waits for (prefill, titles, suggestions) while the engine is idle.

The engine is idle while no person's answer runs or waits. One piece of work runs at a time, and a
person's answer preempts it. The queue does not know what the work does.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from typing import TypeVar

from hitsend.engine.contract import Generated, GenerationStep, Preempted, PrefillResult, Prompt

T = TypeVar("T")

MAX_WAITING = 32
"""Further work is refused: a busy engine might never get to it."""


class IdleQueue:
    def __init__(self) -> None:
        self._num_foreground = 0
        self._num_waiting = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._lock = asyncio.Lock()
        self._running: asyncio.Task[object] | None = None
        self._prefilling: Prompt | None = None
        """The prompt that the running work prefills, if it does."""

    @property
    def is_preempted(self) -> bool:
        """Whether the running work should stop."""
        return self._num_foreground > 0

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """Held while a person's answer runs or waits. No idle work starts meanwhile."""
        self._num_foreground += 1
        self._is_idle.clear()
        try:
            yield
        finally:
            self._num_foreground -= 1
            if not self._num_foreground:
                self._is_idle.set()

    async def preempt(self, prompt: Prompt | None = None) -> None:
        """Ends the running work, before a person's `prompt` is sent. Work that prefills the start
        of this very prompt is not cancelled: it stops after its current step, and the person's
        request reuses what is cached by then."""
        if (running := self._running) is None:
            return
        if not (prompt and self._prefilling and _is_prefix(self._prefilling, prompt)):
            running.cancel()
        await asyncio.wait([running])

    async def run(
        self,
        work: Callable[[], Coroutine[None, None, T]],
        *,
        prefills: Prompt | None = None,
        can_wait: bool = True,
    ) -> T:
        """Raises Preempted if the work was cancelled or could not start."""
        is_free = not self._num_foreground and not self._lock.locked()
        if not is_free and (not can_wait or self._num_waiting >= MAX_WAITING):
            raise Preempted
        self._num_waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._num_waiting -= 1
        try:
            while self._num_foreground:
                await self._is_idle.wait()
            return await self._run(work(), prefills)
        finally:
            self._lock.release()

    async def prefill(
        self, prompt: Prompt, work: Callable[[], Coroutine[None, None, PrefillResult]]
    ) -> PrefillResult:
        """Returns an empty result if the work was preempted."""
        try:
            return await self.run(work, prefills=prompt)
        except Preempted:
            return PrefillResult()

    async def _run(self, work: Coroutine[None, None, T], prefills: Prompt | None) -> T:
        task = asyncio.create_task(work)
        self._running, self._prefilling = task, prefills
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            try:
                await asyncio.wait([task])
            finally:
                self._running, self._prefilling = None, None
        if task.cancelled():
            raise Preempted
        return task.result()


async def collect_text(generation: AsyncGenerator[GenerationStep, None]) -> str:
    async with aclosing(generation):
        return "".join([step.text async for step in generation if isinstance(step, Generated)])


def _is_prefix(beginning: Prompt, prompt: Prompt) -> bool:
    return (
        prompt.model == beginning.model
        and prompt.ids[: len(beginning.ids)] == beginning.ids
        and bool(beginning.ids)
    )
