"""Files that only their owner may read: written, copied, hashed, and flushed to the disk."""

import hashlib
import os
from pathlib import Path
from typing import BinaryIO

import msgspec

CHUNK_BYTES = 1 << 20


class FileFacts(msgspec.Struct, frozen=True):
    num_bytes: int
    sha256: str


def create_private(path: Path) -> BinaryIO:
    """Opens a new file for writing. Raises FileExistsError."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def write_private(path: Path, content: bytes) -> None:
    with create_private(path) as file:
        file.write(content)


def copy_private(source: Path, target: Path) -> FileFacts:
    """Copies a file and flushes the copy. Returns the facts of what was copied."""
    digest, num_bytes = hashlib.sha256(), 0
    with source.open("rb") as reader, create_private(target) as writer:
        while chunk := reader.read(CHUNK_BYTES):
            writer.write(chunk)
            digest.update(chunk)
            num_bytes += len(chunk)
    flush(target)
    return FileFacts(num_bytes, digest.hexdigest())


def hash_file(path: Path) -> FileFacts:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileFacts(file.tell(), digest.hexdigest())


def flush(path: Path) -> None:
    """Waits until the file, or the list of files of the folder, is on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
