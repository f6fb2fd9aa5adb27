"""Whether the store can be used: its file is whole, the disk has room, and it can be written."""

import asyncio
import logging
import shutil
import threading
from contextlib import suppress
from pathlib import Path

from hitsend.errors import DatabaseDamaged, DiskFull, StoreDown
from hitsend.store import Store
from hitsend.store.damage import check_quickly
from hitsend.store.database import DAMAGED, DISK_FULL

log = logging.getLogger(__name__)

START_WAIT_S = 1.0
"""How long a start waits for the check of the file. That of a large one goes on beside the server.
"""
MIN_FREE_BYTES = 32_000_000
"""Less than this is a full disk: SQLite may still find room in its own file, but not for long."""


class DamageCheck:
    """Reads the whole database file once at each start, in a thread that the server does not wait
    for when it stops."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._done = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._problem: DatabaseDamaged | None = None
        self._logging: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._database.exists():
            threading.Thread(target=self._check, name="damage-check", daemon=True).start()
        else:
            self._done.set()

    async def wait(self, longest_s: float = START_WAIT_S) -> None:
        """Raises DatabaseDamaged if that is found within this time. Later it is only logged."""
        try:
            async with asyncio.timeout(longest_s):
                await self._done.wait()
        except TimeoutError:
            log.info("the database is large: it is checked for damage in the background")
            self._logging = asyncio.create_task(self._log_problem())
            return
        if self._problem is not None:
            raise self._problem

    def raise_if_damaged(self) -> None:
        """Raises DatabaseDamaged, in words for everyone, if that was found so far."""
        if self._problem is not None:
            raise DatabaseDamaged(DAMAGED)

    async def until_logged(self) -> None:
        """Returns once a check that was late has ended."""
        if self._logging is not None:
            await self._logging

    async def _log_problem(self) -> None:
        await self._done.wait()
        if self._problem is not None:
            log.error("%s", self._problem.message)

    def _check(self) -> None:
        try:
            check_quickly(self._database)
        except DatabaseDamaged as error:
            self._problem = error
        except StoreDown as error:
            log.warning("the database was not checked for damage: %s", error.message)
        with suppress(RuntimeError):  # the server has stopped meanwhile
            self._loop.call_soon_threadsafe(self._done.set)


class StoreCheck:
    def __init__(self, store: Store, data_dir: Path, damage: DamageCheck) -> None:
        self._store = store
        self._data_dir = data_dir
        self._damage = damage

    async def check(self) -> None:
        """Raises StoreDown."""
        self._damage.raise_if_damaged()
        check_free_space(self._data_dir)
        await self._store.check()


def check_free_space(folder: Path, min_free_bytes: int = MIN_FREE_BYTES) -> None:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise StoreDown(f"The disk cannot be reached: {error.strerror}.") from None
    if free < min_free_bytes:
        raise DiskFull(DISK_FULL)
