"""Threads that run functions for the event loop.

`concurrent.futures` makes two futures and a condition for each call. Here a call is one future and
one entry in a queue, because every Send makes several.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Job: TypeAlias = tuple[asyncio.Future[Any], Callable[[], Any]]


class Threads:
    def __init__(self, num_threads: int, name: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True)
            for _ in range(num_threads)
        ]
        self._is_started = False

    async def run(self, work: Callable[[], T]) -> T:
        """Runs `work` in a thread. It completes even when the caller is cancelled."""
        if not self._is_started:
            self._is_started = True
            for thread in self._threads:
                thread.start()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put((future, work))
        return await future

    async def close(self) -> None:
        """Waits until all queued calls have run."""
        if self._is_started:
            for _ in self._threads:
                self._jobs.put(None)
            for thread in self._threads:
                await asyncio.to_thread(thread.join)


def _work(jobs: SimpleQueue[Job | None]) -> None:
    while (job := jobs.get()) is not None:
        future, work = job
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001
            # Every error is the caller's, who would wait forever if the thread ended with it.
            _call_in_loop(future, _set_error, error)
        else:
            _call_in_loop(future, _set_result, result)
        del job, future, work  # an idle thread keeps no references


def _call_in_loop(
    future: asyncio.Future[Any], set_outcome: Callable[..., None], outcome: object
) -> None:
    loop = future.get_loop()
    if not loop.is_closed():
        loop.call_soon_threadsafe(set_outcome, future, outcome)


def _set_result(future: asyncio.Future[Any], result: object) -> None:
    if not future.done():  # else its caller was cancelled
        future.set_result(result)


def _set_error(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
