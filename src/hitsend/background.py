"""Background jobs that nobody waits for, run one at a time.

A job does a portion of its work, and runs again while it returns True. Jobs take turns, and after
a portion that leaves more to do the queue rests: a long job takes a small share of a core. A job
replaces a job of the same name that has not started, and one that would run again. A failed job is
not retried. The running job is cancelled when hitsend stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

from cachetools import FIFOCache

Job: TypeAlias = Callable[[], Awaitable[bool | None]]

MAX_JOBS = 1000
"""Beyond it, the oldest jobs are dropped."""
REST_S = 0.25


class Background:
    def __init__(self) -> None:
        self._jobs = FIFOCache[str, Job](MAX_JOBS)
        self._has_jobs = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._is_awaited = asyncio.Event()

    def schedule(self, name: str, job: Job) -> None:
        self._jobs[name] = job
        self._is_idle.clear()
        self._has_jobs.set()

    async def until_idle(self) -> None:
        """Waits until every scheduled job has run, without rests."""
        self._is_awaited.set()
        try:
            await self._is_idle.wait()
        finally:
            self._is_awaited.clear()

    async def run(self) -> None:
        """Runs jobs until cancelled. An exception of a job is raised; calling `run` again goes on
        with the other jobs."""
        while True:
            await self._has_jobs.wait()
            while self._jobs:
                name, job = self._jobs.popitem()
                if await job():
                    self._jobs.setdefault(name, job)
                    await self._rest()
            self._has_jobs.clear()
            self._is_idle.set()

    async def _rest(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_S):
                await self._is_awaited.wait()
