"""Background jobs that nobody waits for, run one at a time.

A job replaces a job of the same name that has not started. A failed job is not retried. The
running job is cancelled when hitsend stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from cachetools import FIFOCache

Job: TypeAlias = Callable[[], Awaitable[None]]

MAX_JOBS = 1000
"""Beyond it, the oldest jobs are dropped."""


class Background:
    def __init__(self) -> None:
        self._jobs = FIFOCache[str, Job](MAX_JOBS)
        self._has_jobs = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def schedule(self, name: str, job: Job) -> None:
        self._jobs[name] = job
        self._is_idle.clear()
        self._has_jobs.set()

    async def until_idle(self) -> None:
        """Waits until every scheduled job has run."""
        await self._is_idle.wait()

    async def run(self) -> None:
        """Runs jobs until cancelled. An exception of a job is raised; calling `run` again goes on
        with the other jobs."""
        while True:
            await self._has_jobs.wait()
            while self._jobs:
                _, job = self._jobs.popitem()
                await job()
            self._has_jobs.clear()
            self._is_idle.set()
