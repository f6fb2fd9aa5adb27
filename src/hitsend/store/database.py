"""The SQLite file: one connection that writes, a few that read, none on the event loop.

Writers take turns behind a lock, so none of ours ever waits for SQLite's own. A statement that
was begun runs to its end, whoever is cancelled meanwhile. This is also where SQLite's errors
become ours, and the only place. It knows no table.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from sqlalchemy import URL, Connection, CursorResult, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from hitsend.errors import StoreDown

Sync: TypeAlias = Literal["normal", "full"]
Clock: TypeAlias = Callable[[], float]
T = TypeVar("T")

NUM_READERS = 4

BUSY_TIMEOUT = "PRAGMA busy_timeout = 5000"
READING = f"{BUSY_TIMEOUT}; PRAGMA foreign_keys = ON; PRAGMA query_only = ON;"
WRITING = (
    f"{BUSY_TIMEOUT}; PRAGMA foreign_keys = ON; "
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = {sync}; "
    # Pages from the log back to the file, a little at a time: every stream waits for it.
    "PRAGMA wal_autocheckpoint = 250; "
    # What is deleted is overwritten. Not every build of SQLite does so by itself.
    "PRAGMA secure_delete = ON;"
)

PROBLEMS = {
    sqlite3.SQLITE_FULL: "The disk is full. Make room on it, then try again.",
    sqlite3.SQLITE_BUSY: "Another program keeps the database locked.",
    sqlite3.SQLITE_LOCKED: "Another program keeps the database locked.",
    sqlite3.SQLITE_READONLY: "The database, or the folder it is in, may not be written to.",
    sqlite3.SQLITE_PERM: "The database, or the folder it is in, may not be written to.",
    sqlite3.SQLITE_CANTOPEN: "The database cannot be opened. May hitsend write to its folder?",
    sqlite3.SQLITE_IOERR: "The disk failed to read or write the database.",
    sqlite3.SQLITE_NOTADB: "The file is not a database of hitsend's.",
    sqlite3.SQLITE_CORRUPT: "The database is damaged. Put back a copy of it.",
}


class _Writing(AsyncConnection):
    """Its statements run to their end. SQLAlchemy closes a connection whose statement is
    cancelled, and SQLite keeps the lock of one that is closed in the middle of a statement."""

    async def execute(self, *asked: Any, **options: Any) -> CursorResult[Any]:
        return await _to_its_end(super().execute(*asked, **options))


class Database:
    def __init__(self, path: Path, sync: Sync, now: Clock) -> None:
        self.path = path
        self.now = now
        url = URL.create("sqlite+aiosqlite", database=str(path))
        # Our own BEGIN, below, and not the driver's, which comes late and takes no lock.
        driver = {"isolation_level": None}
        self._writer = create_async_engine(
            url,
            pool_size=1,
            max_overflow=0,
            pool_reset_on_return=None,
            connect_args=driver,
            hide_parameters=True,  # what people said: errors are logged
        )
        self._readers = create_async_engine(
            url,
            pool_size=NUM_READERS,
            max_overflow=0,
            pool_reset_on_return=None,
            connect_args=driver,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
        )
        self._writing: AsyncConnection | None = None
        self._lock = asyncio.Lock()
        _prepare(self._writer, WRITING.format(sync=sync))
        _prepare(self._readers, READING)
        event.listen(self._writer.sync_engine, "begin", _begin_immediate)

    async def open(self) -> None:
        await asyncio.to_thread(_make_private, self.path)
        with _translating():
            self._writing = await _Writing(self._writer).start()

    async def close(self) -> None:
        async with self._lock:
            writing, self._writing = self._writing, None
            if writing is not None:
                await writing.close()
            await self._readers.dispose()
            await self._writer.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Each statement sees the newest state: two of them may see two states."""
        self._opened()
        with _translating():
            async with self._readers.connect() as connection:
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: all of it or nothing."""
        async with self._lock:
            connection = self._opened()
            with _translating():
                try:
                    await _to_its_end(connection.begin().start())
                    yield connection
                    await _to_its_end(connection.commit())
                except BaseException:
                    await _to_its_end(connection.rollback())
                    raise

    async def write_one(self, sql: str, parameters: Sequence[object]) -> None:
        """One statement that is its own transaction.

        It goes to the driver directly: one trip to the connection's thread instead of the
        three of BEGIN, statement and COMMIT, and nothing to compile. Raises IntegrityError
        as `write` does.
        """
        async with self._lock:
            connection = self._opened()
            with _translating():
                driver = (await connection.get_raw_connection()).driver_connection
                assert driver is not None
                # Not `execute`: its cursor would be freed on the event loop, under SQLite's mutex.
                await driver.execute_fetchall(sql, parameters)

    async def empty_log(self) -> bool:
        """What was erased stands in the log until its pages are used again, or it is cut to
        nothing. False where somebody reads from it, and none of our writers waits for them."""
        async with self._lock:
            connection = self._opened()
            with _translating():
                driver = (await connection.get_raw_connection()).driver_connection
                assert driver is not None
                return await _to_its_end(_empty_log(driver))

    def _opened(self) -> AsyncConnection:
        if self._writing is None:
            raise StoreDown("The database is closed.")
        return self._writing


async def _to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Whoever is cancelled meanwhile hears of it afterwards."""
    running, cancelled = asyncio.create_task(work), None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return running.result()
    running.exception()  # has been looked at: the cancellation is what counts
    raise cancelled


async def _empty_log(driver: Any) -> bool:
    await driver.execute_fetchall("PRAGMA busy_timeout = 0")
    try:
        [(is_busy, _, _)] = await driver.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        await driver.execute_fetchall(BUSY_TIMEOUT)
    return not is_busy


def _make_private(path: Path) -> None:
    """Only the one who runs hitsend may read what people say."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise StoreDown(f"The database {path} cannot be opened: {error.strerror}.") from error


def _prepare(engine: AsyncEngine, script: str) -> None:
    def prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.run_async(lambda driver: driver.executescript(script))

    event.listen(engine.sync_engine, "connect", prepare)


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def _translating() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise
    except DBAPIError as error:
        raise _translated(error, error.orig) from error
    except sqlite3.IntegrityError as error:
        raise IntegrityError(None, None, error) from error
    except sqlite3.Error as error:
        raise _translated(error, error) from error
    except PoolTimeout as error:
        raise StoreDown("The database is too busy to be read.") from error


def _translated(error: Exception, cause: BaseException | None) -> Exception:
    """A problem with the disk or the file. Anything else is a bug and stays what it is."""
    code = getattr(cause, "sqlite_errorcode", None)
    problem = PROBLEMS.get(code & 0xFF) if code is not None else None
    return StoreDown(problem) if problem else error
