"""The downloads that people started, as background tasks."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

import msgspec

from hitsend.engine.contract import Download
from hitsend.engine.models.catalogue import Catalogue
from hitsend.engine.models.weights import Weights
from hitsend.errors import Conflict, HitsendError, UnknownModel

log = logging.getLogger(__name__)

BUG_MESSAGE = "Something broke on our side. It has been logged."


class Downloads:
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._downloads: dict[str, Download] = {}
        self._tasks: dict[str, asyncio.Task[Weights]] = {}

    @property
    def all(self) -> Sequence[Download]:
        """The running downloads, and the failed ones until they are started again."""
        return tuple(self._downloads.values())

    async def start(self, name: str) -> None:
        """Accepts only names of the catalogue, so that nobody can make this machine download
        arbitrary files. Raises UnknownModel and Conflict."""
        offers = await asyncio.to_thread(self._catalogue.offers)
        offer = next((offer for offer in offers if offer.name == name), None)
        if offer is None:
            names = ", ".join(offer.name for offer in offers)
            raise UnknownModel(f"There is no model {name!r} to fetch. There is: {names}.")
        if offer.is_here:
            raise Conflict(f"{offer.title} is here already.")
        if name not in self._tasks:
            self._downloads[name] = Download(name, 0, offer.num_bytes)
            task = asyncio.create_task(self._catalogue.pull(name, self._record_progress))
            self._tasks[name] = task
            task.add_done_callback(partial(self._record_end, name))

    async def cancel(self, name: str) -> bool:
        """Returns whether there was a download, running or failed. Keeps the partial file."""
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

    def _record_progress(self, download: Download) -> None:
        self._downloads[download.name] = download

    def _record_end(self, name: str, task: asyncio.Task[Weights]) -> None:
        """Also records a bug, so that the download does not seem to run for ever."""
        del self._tasks[name]
        download = self._downloads.pop(name)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, HitsendError):
            log.error("fetching %s failed", name, exc_info=error)
        problem = error.message if isinstance(error, HitsendError) else BUG_MESSAGE
        self._downloads[name] = msgspec.structs.replace(download, problem=problem)
