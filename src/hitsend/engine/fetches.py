"""Weights that somebody asked for, on their way here. What they are for is not known here."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

import msgspec

from hitsend.engine.catalogue import Catalogue
from hitsend.engine.contract import Download
from hitsend.engine.weights import Weights
from hitsend.errors import Conflict, HitsendError, UnknownModel

log = logging.getLogger(__name__)

BROKEN = "Something broke on our side. It has been logged."


class Fetches:
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._downloads: dict[str, Download] = {}
        self._tasks: dict[str, asyncio.Task[Weights]] = {}

    @property
    def downloads(self) -> Sequence[Download]:
        """Those on their way, and those that failed, until they are asked for again."""
        return tuple(self._downloads.values())

    async def begin(self, name: str) -> None:
        """Only by the catalogue's names: nobody may have this machine fetch what they please."""
        offers = await asyncio.to_thread(self._catalogue.offers)
        offer = next((offer for offer in offers if offer.name == name), None)
        if offer is None:
            names = ", ".join(offer.name for offer in offers)
            raise UnknownModel(f"There is no model {name!r} to fetch. There is: {names}.")
        if offer.is_here:
            raise Conflict(f"{offer.title} is here already.")
        if name not in self._tasks:
            self._downloads[name] = Download(name, 0, offer.num_bytes)
            task = asyncio.create_task(self._catalogue.pull(name, self._take_progress))
            self._tasks[name] = task
            task.add_done_callback(partial(self._take_end, name))

    async def forget(self, name: str) -> bool:
        """Whether it was on its way, or had failed to come. What has arrived stays on disk."""
        is_known = name in self._downloads
        if task := self._tasks.get(name):
            task.cancel()
            await asyncio.wait([task])
        self._downloads.pop(name, None)
        return is_known

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _take_progress(self, download: Download) -> None:
        self._downloads[download.name] = download

    def _take_end(self, name: str, task: asyncio.Task[Weights]) -> None:
        """However it ended: one that fell over a bug is not on its way for ever."""
        del self._tasks[name]
        download = self._downloads.pop(name)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, HitsendError):
            log.error("fetching %s failed", name, exc_info=error)
        problem = error.message if isinstance(error, HitsendError) else BROKEN
        self._downloads[name] = msgspec.structs.replace(download, problem=problem)
