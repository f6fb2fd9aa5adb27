"""A bounded queue of password hashes, which runs one at a time and takes turns between addresses.

A hash takes 64 MiB and a core for 0.1 s. One at a time leaves the rest of a small machine to the
answers. Someone who sends many passwords waits for their own hashes: others are served in between.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from hitsend.errors import Overloaded

T = TypeVar("T")

MAX_WAITING = 64
RETRY_AFTER_S = 5.0


@dataclass(eq=False, slots=True)
class Job:
    address: str
    work: Callable[[], Any]
    outcome: Future[Any] = field(default_factory=Future)


class HashQueue:
    """Works in a thread of its own, and for any event loop."""

    def __init__(self, max_waiting: int = MAX_WAITING) -> None:
        self._max_waiting = max_waiting
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="argon2")
        self._lock = Lock()
        self._is_busy = False
        self._num_waiting = 0
        self._waiting: dict[str, deque[Job]] = {}
        """By address. The first address is served next, and then becomes the last."""

    async def run(self, address: str, work: Callable[[], T]) -> T:
        """Returns the result of `work`. Raises Overloaded where the queue is full: then the newest
        job of the address that has the most of them is refused, which may be this one."""
        job = Job(address, work)
        refused = self._add(job)
        if refused is not None:
            refused.outcome.set_exception(
                Overloaded(
                    "Too many people are signing in at once. Try again in a few seconds.",
                    retry_after_s=RETRY_AFTER_S,
                )
            )
        self._start_next()
        try:
            result: T = await asyncio.wrap_future(job.outcome)
        finally:
            with self._lock:
                self._remove(job)  # the caller may have stopped waiting
        return result

    def _add(self, job: Job) -> Job | None:
        """Returns the job that has to leave the full queue for it."""
        with self._lock:
            self._waiting.setdefault(job.address, deque()).append(job)
            self._num_waiting += 1
            if self._num_waiting <= self._max_waiting:
                return None
            # The newcomer's address comes first: it displaces only those that have more.
            addresses = [job.address, *self._waiting]
            refused = max((self._waiting[one] for one in addresses), key=len)[-1]
            self._remove(refused)
        return refused

    def _start_next(self) -> None:
        with self._lock:
            if self._is_busy or not self._waiting:
                return
            address, jobs = next(iter(self._waiting.items()))
            job = jobs[0]
            self._remove(job)
            if jobs:
                self._waiting[address] = self._waiting.pop(address)
            self._is_busy = True
        self._thread.submit(job.work).add_done_callback(partial(self._finish, job))

    def _finish(self, job: Job, done: Future[Any]) -> None:
        with self._lock:
            self._is_busy = False
        self._start_next()
        if not job.outcome.set_running_or_notify_cancel():
            return
        if (error := done.exception()) is not None:
            job.outcome.set_exception(error)
        else:
            job.outcome.set_result(done.result())

    def _remove(self, job: Job) -> None:
        jobs = self._waiting.get(job.address, deque[Job]())
        if job in jobs:
            jobs.remove(job)
            self._num_waiting -= 1
        if not jobs:
            self._waiting.pop(job.address, None)
