"""The SQLite file: one writer connection and a pool of readers, none of them on the event loop.

A read or a write is a plain function of a `Connection`. It runs whole in a thread of the
database, so it takes one trip from the event loop and back, however many statements it has.
(With a trip per statement, the trips cost ten times as much as the statements.) All writes share
one thread, so none of them waits for SQLite's own lock. A function that has begun always
completes, even when its task is cancelled. SQLite's errors become `StoreDown` here and nowhere
else. This module knows no table.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeAlias, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from hitsend.errors import DatabaseDamaged, DiskFull, StoreDown
from hitsend.store.prepared import driver_of
from hitsend.store.threads import Threads

Sync: TypeAlias = Literal["normal", "full"]
Clock: TypeAlias = Callable[[], float]
P = ParamSpec("P")
T = TypeVar("T")

NUM_READERS = 4

MAX_BATCH_ROWS = 200
MAX_BATCH_CHARS = 1_000_000
"""A batch of this size takes some hundredths of a second, and other writers wait for it. A single
longer row is a batch of its own."""

MIN_FREE_PAGES = 2048
"""8 MB of free pages are never given back: running turns use them again."""
VACUUM_PAGES = 256
INCREMENTAL = 2
"""SQLite's number of this mode of `auto_vacuum`."""

BUSY_TIMEOUT = "PRAGMA busy_timeout = 5000"
READER_PRAGMAS = f"{BUSY_TIMEOUT}; PRAGMA foreign_keys = ON; PRAGMA query_only = ON;"
WRITER_PRAGMAS = (
    f"{BUSY_TIMEOUT}; PRAGMA foreign_keys = ON; "
    # Free pages can be given back. It is ignored by a file that has tables (`hitsend compact`).
    "PRAGMA auto_vacuum = INCREMENTAL; "
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = {sync}; "
    # Small checkpoints, because every stream waits while one runs.
    "PRAGMA wal_autocheckpoint = 250; "
    # Overwrite deleted rows with zeros. It is off by default in some builds of SQLite.
    "PRAGMA secure_delete = ON;"
)

ERROR_MESSAGES = {
    sqlite3.SQLITE_BUSY: "Another program keeps the database locked.",
    sqlite3.SQLITE_LOCKED: "Another program keeps the database locked.",
    sqlite3.SQLITE_READONLY: "The database, or the folder it is in, may not be written to.",
    sqlite3.SQLITE_PERM: "The database, or the folder it is in, may not be written to.",
    sqlite3.SQLITE_CANTOPEN: "The database cannot be opened. May hitsend write to its folder?",
    sqlite3.SQLITE_IOERR: "The disk failed to read or write the database.",
    sqlite3.SQLITE_NOTADB: "The file is not a database of hitsend's.",
}
DISK_FULL = "The disk is full. Make room on it, then try again."
DAMAGED = "The database is damaged. Whoever runs this server has to restore a backup of it."


class Database:
    def __init__(self, path: Path, sync: Sync, now: Clock) -> None:
        self.path = path
        self.now = now
        url = URL.create("sqlite", database=str(path))
        # We send BEGIN IMMEDIATE ourselves: the driver's BEGIN comes late and takes no lock.
        # A pooled connection serves one thread after another.
        driver_options = {"isolation_level": None, "check_same_thread": False}
        self._writer_engine = create_engine(
            url,
            pool_size=1,
            max_overflow=0,
            pool_reset_on_return=None,
            connect_args=driver_options,
            hide_parameters=True,  # errors are logged, and parameters are people's messages
        )
        self._reader_engine = create_engine(
            url,
            pool_size=NUM_READERS,
            max_overflow=0,
            pool_reset_on_return=None,
            connect_args=driver_options,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
        )
        self._writer: Connection | None = None
        self._writer_thread = Threads(1, "database-writer")
        self._reader_threads = Threads(NUM_READERS, "database-reader")
        _run_on_connect(self._writer_engine, WRITER_PRAGMAS.format(sync=sync))
        _run_on_connect(self._reader_engine, READER_PRAGMAS)
        event.listen(self._writer_engine, "begin", _begin_immediate)

    async def open(self) -> None:
        await asyncio.to_thread(_create_private_file, self.path)
        self._writer = await self._run(self._writer_thread, self._writer_engine.connect)

    async def close(self) -> None:
        """Waits for the reads and writes under way."""
        writer, self._writer = self._writer, None
        await self._writer_thread.close()
        await self._reader_threads.close()
        if writer is not None:
            writer.close()
        self._reader_engine.dispose()
        self._writer_engine.dispose()

    async def read(self, body: Callable[[Connection], T]) -> T:
        """Runs `body` on a reader in autocommit mode: two statements may see two states."""
        self._require_open()
        return await self._run(self._reader_threads, partial(self._read, body))

    async def write(self, body: Callable[[Connection], T]) -> T:
        """Runs `body` in one transaction, which is rolled back when it raises."""
        return await self._run(self._writer_thread, partial(_write, self._require_open(), body))

    async def migrate(self, body: Callable[[Connection], None]) -> None:
        """Runs `body` as `write` does, with foreign keys off: replacing a table deletes nothing."""
        await self._run(self._writer_thread, partial(_migrate, self._require_open(), body))

    async def write_statement(self, sql: str, parameters: Sequence[object]) -> None:
        """Runs one statement as its own transaction. Bypasses SQLAlchemy, so there is nothing to
        compile. Raises IntegrityError as `write` does."""
        work = partial(_write_statement, self._require_open(), sql, parameters)
        await self._run(self._writer_thread, work)

    async def truncate_wal(self) -> bool:
        """Empties the write-ahead log, which otherwise keeps deleted rows until its pages are
        reused. Returns False, without waiting, while a reader uses it."""
        work = partial(_truncate_wal, self._require_open())
        return await self._run(self._writer_thread, work)

    async def give_back_space(self) -> bool:
        """Gives some free pages at the end of the file back to the disk, and returns whether there
        were enough of them to do so: a tenth of the file is kept, because it fills up again."""
        work = partial(_give_back_space, self._require_open())
        return await self._run(self._writer_thread, work)

    async def _run(self, threads: Threads, work: Callable[[], T]) -> T:
        try:
            return await threads.run(work)
        except IntegrityError:
            raise
        except (DBAPIError, sqlite3.Error, PoolTimeout) as error:
            raise _translate(error) from error

    def _read(self, body: Callable[[Connection], T]) -> T:
        with self._reader_engine.connect() as connection:
            return body(connection)

    def _require_open(self) -> Connection:
        if self._writer is None:
            raise StoreDown("The database is closed.")
        return self._writer


@contextmanager
def open_read_only(path: Path) -> Iterator[Connection]:
    """Yields a connection that sees one state of the file, whether a server runs or not. It writes
    nothing and blocks nobody. Raises StoreDown."""
    url = URL.create(
        "sqlite", database=f"{path.absolute().as_uri()}?mode=ro", query={"uri": "true"}
    )
    engine = create_engine(url, hide_parameters=True, connect_args={"isolation_level": None})
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN").close())
    try:
        with engine.begin() as connection:
            yield connection
    except (DBAPIError, sqlite3.Error) as error:
        raise _translate(error) from error
    finally:
        engine.dispose()


class HasDatabase(Protocol):
    @property
    def _database(self) -> Database: ...


H = TypeVar("H", bound=HasDatabase)


def reads(
    method: Callable[Concatenate[H, Connection, P], T],
) -> Callable[Concatenate[H, P], Coroutine[Any, Any, T]]:
    """Makes a method over a connection a coroutine that runs it in `Database.read`."""

    @wraps(method)
    async def read(self: H, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(
            lambda connection: method(self, connection, *args, **kwargs)
        )

    return read


def writes(
    method: Callable[Concatenate[H, Connection, P], T],
) -> Callable[Concatenate[H, P], Coroutine[Any, Any, T]]:
    """The same in `Database.write`: the method is one transaction."""

    @wraps(method)
    async def write(self: H, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(
            lambda connection: method(self, connection, *args, **kwargs)
        )

    return write


def _write(writer: Connection, body: Callable[[Connection], T]) -> T:
    with writer.begin():
        return body(writer)


def _migrate(writer: Connection, body: Callable[[Connection], None]) -> None:
    driver = driver_of(writer)
    driver.execute("PRAGMA foreign_keys = OFF")  # ignored inside a transaction
    try:
        _write(writer, body)
    finally:
        driver.execute("PRAGMA foreign_keys = ON")


def _write_statement(writer: Connection, sql: str, parameters: Sequence[object]) -> None:
    driver_of(writer).execute(sql, parameters)


def _truncate_wal(writer: Connection) -> bool:
    driver = driver_of(writer)
    driver.execute("PRAGMA busy_timeout = 0")
    try:
        [(is_busy, _, _)] = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        driver.execute(BUSY_TIMEOUT)
    return not is_busy


def _give_back_space(writer: Connection) -> bool:
    driver = driver_of(writer)
    names = ("auto_vacuum", "page_count", "freelist_count")
    mode, num_pages, num_free = (driver.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    if mode != INCREMENTAL or num_free < max(num_pages // 10, MIN_FREE_PAGES):
        return False
    driver.execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})").fetchall()  # a row for each step
    return True


def _create_private_file(path: Path) -> None:
    """Only the operating system's user that runs hitsend may read the file."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise StoreDown(f"The database {path} cannot be opened: {error.strerror}.") from error


def _run_on_connect(engine: Engine, script: str) -> None:
    def run(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.executescript(script)

    event.listen(engine, "connect", run)


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def split_batches(
    rows: Iterable[T], num_chars: Callable[[T], int] = lambda _: 0
) -> Iterator[list[T]]:
    """Splits rows into lists small enough to write in one transaction each."""
    batch: list[T] = []
    total = 0
    for row in rows:
        if batch and (len(batch) == MAX_BATCH_ROWS or total + num_chars(row) > MAX_BATCH_CHARS):
            yield batch
            batch, total = [], 0
        batch.append(row)
        total += num_chars(row)
    if batch:
        yield batch


def _translate(error: Exception) -> Exception:
    """Returns StoreDown for a problem with the disk or the file, else the error: it is a bug."""
    if isinstance(error, sqlite3.IntegrityError):
        return IntegrityError(None, None, error)
    if isinstance(error, PoolTimeout):
        return StoreDown("The database is too busy to be read.")
    return explain(error.orig if isinstance(error, DBAPIError) else error) or error


def explain(error: BaseException | None) -> StoreDown | None:
    """Returns None for a bug."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return DiskFull(DISK_FULL)
        case sqlite3.SQLITE_CORRUPT:
            return DatabaseDamaged(DAMAGED)
        case kind:
            return StoreDown(ERROR_MESSAGES[kind]) if kind in ERROR_MESSAGES else None
