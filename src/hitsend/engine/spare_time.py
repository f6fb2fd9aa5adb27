"""An engine's spare time: what nobody waits for (reading ahead, titles, suggestions) runs in it.

There is spare time while no person's answer runs or waits. One thing at a time uses it, and is
ended as soon as a person comes. What is done in it is not known here.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from typing import TypeVar

from hitsend.engine.contract import GaveWay, Generated, Generation, Prompt

T = TypeVar("T")

MAX_WAITING = 32
"""More wait for no spare time: their day may never come."""


class SpareTime:
    def __init__(self) -> None:
        self._num_persons = 0
        self._num_waiting = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._only_one = asyncio.Lock()
        self._running: asyncio.Task[object] | None = None
        self._read: Prompt | None = None
        """What it reads, if it reads ahead."""

    @property
    def is_over(self) -> bool:
        """Whether what runs in it should come to its end."""
        return self._num_persons > 0

    @contextmanager
    def person(self) -> Iterator[None]:
        """While a person's answer runs or waits."""
        self._num_persons += 1
        self._is_idle.clear()
        try:
            yield
        finally:
            self._num_persons -= 1
            if not self._num_persons:
                self._is_idle.set()

    async def end(self, prompt: Prompt | None = None) -> None:
        """Before a person's prompt is asked. What reads the start of this very prompt comes to an
        end by itself: the step it is at is waited for, and the person's own request goes on from
        there. Everything else is left off at once."""
        if (running := self._running) is None:
            return
        if not (prompt and self._read and _begins_with(prompt, self._read)):
            running.cancel()
        await asyncio.wait([running])

    async def use(
        self,
        work: Callable[[], Coroutine[None, None, T]],
        *,
        reads: Prompt | None = None,
        can_wait: bool = True,
    ) -> T:
        """Raises GaveWay when it was ended, or could not begin."""
        is_free = not self._num_persons and not self._only_one.locked()
        if not is_free and (not can_wait or self._num_waiting >= MAX_WAITING):
            raise GaveWay
        self._num_waiting += 1
        try:
            await self._only_one.acquire()
        finally:
            self._num_waiting -= 1
        try:
            while self._num_persons:
                await self._is_idle.wait()
            return await self._run(work(), reads)
        finally:
            self._only_one.release()

    async def _run(self, work: Coroutine[None, None, T], reads: Prompt | None) -> T:
        task = asyncio.create_task(work)
        self._running, self._read = task, reads
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            try:
                await asyncio.wait([task])
            finally:
                self._running, self._read = None, None
        if task.cancelled():
            raise GaveWay
        return task.result()


async def text_of(generation: AsyncGenerator[Generation, None]) -> str:
    """All that is said in it, for those who need it only when it is whole."""
    async with aclosing(generation):
        return "".join([step.text async for step in generation if isinstance(step, Generated)])


def _begins_with(prompt: Prompt, beginning: Prompt) -> bool:
    return (
        prompt.model == beginning.model
        and prompt.ids[: len(beginning.ids)] == beginning.ids
        and bool(beginning.ids)
    )
