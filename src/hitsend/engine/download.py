"""A file on its way: what is there already, whether there is room, and how it lands.

A partial file is always the beginning of the whole one, whatever source it comes from, so a
download that was cut goes on where it stopped. Nothing has its final name before it was
checked. This module does not know where files come from: see `sources`.
"""

import asyncio
import fcntl
import hashlib
import os
import shutil
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from hitsend.errors import Conflict, ModelBroken

Report: TypeAlias = Callable[[int, int], None]
"""Told how many bytes are on disk, of how many."""

SPARE_BYTES = 64 * 2**20
"""What is left free on a disk, whatever the download."""

LOCK_POLL_S = 0.2


class Mark(msgspec.Struct, frozen=True):
    """How far a partial file can be trusted, and which source it began with."""

    source: str
    num_bytes: int = 0
    num_parts: int = 0
    etag: str | None = None


class Partial:
    def __init__(self, path: Path) -> None:
        """`path` is where the whole file will be."""
        self.whole = path
        self.path = path.with_name(path.name + ".partial")
        self.staging = path.with_name(path.name + ".staging")
        self.lock = path.with_name(path.name + ".lock")
        self._mark = path.with_name(path.name + ".mark")

    @property
    def num_bytes(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def mark(self, source: str) -> Mark:
        """How far an earlier try from the same source came."""
        try:
            mark = msgspec.json.decode(self._mark.read_bytes(), type=Mark)
        except (FileNotFoundError, msgspec.DecodeError):
            return Mark(source)
        is_usable = mark.source == source and mark.num_bytes <= self.num_bytes
        return mark if is_usable else Mark(source)

    def begin_at(self, mark: Mark) -> None:
        """Throw away what goes beyond the mark, perhaps all."""
        with self.path.open("ab") as file:
            file.truncate(mark.num_bytes)
        self.keep(mark)

    def keep(self, mark: Mark) -> None:
        """Remember, so that what is on disk now survives a crash."""
        land(self._mark, msgspec.json.encode(mark))

    def land(self) -> None:
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
        self.path.replace(self.whole)
        self.discard()

    def remove(self) -> bool:
        """Delete the file, whole or not. Says whether there was one."""
        with _opened(self.lock) as lock:
            if not _is_locked(lock):
                raise Conflict(f"{self.whole.name} is being pulled just now.")
            was_here = self.whole.exists() or self.path.exists()
            self.whole.unlink(missing_ok=True)
            self.discard()
            return was_here

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._mark.unlink(missing_ok=True)
        shutil.rmtree(self.staging, ignore_errors=True)


def land(path: Path, content: bytes) -> None:
    """Write a small file so that it is there whole or not at all."""
    partial = path.with_name(path.name + ".new")
    partial.write_bytes(content)
    partial.replace(path)


def require_space(directory: Path, num_bytes: int) -> None:
    free, needed = shutil.disk_usage(directory).free, num_bytes + SPARE_BYTES
    if free < needed:
        raise ModelBroken(
            f"Not enough disk space in {directory}: {in_words(free)} are free, "
            f"{in_words(needed)} are needed."
        )


@contextmanager
def translating_disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == ENOSPC:
            free = in_words(shutil.disk_usage(path.parent).free)
            raise ModelBroken(
                f"The disk ran full while writing {path.name}: {free} are free in {path.parent}. "
                "Make room and pull again; what has arrived is kept."
            ) from error
        raise ModelBroken(f"{path} cannot be written: {error.strerror}.") from error


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@asynccontextmanager
async def only_puller(
    partial: Partial, report: Report, num_bytes: int
) -> AsyncGenerator[None, None]:
    """One puller of a file at a time, over all processes. The others watch it grow."""
    with _opened(partial.lock) as lock:
        while not _is_locked(lock):
            report(partial.num_bytes, num_bytes)
            await asyncio.sleep(LOCK_POLL_S)
        with translating_disk_errors(partial.whole):
            yield


def _opened(lock: Path) -> IO[bytes]:
    with translating_disk_errors(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        return lock.open("ab")


def _is_locked(file: IO[bytes]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def in_words(num_bytes: int) -> str:
    if num_bytes < 10**9:
        return f"{num_bytes / 10**6:,.0f} MB"
    return f"{num_bytes / 10**9:,.1f} GB"
