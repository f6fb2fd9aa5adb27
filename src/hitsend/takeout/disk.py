"""The disk that a file is read from and unpacked to: whether there is room on it."""

import errno
import shutil
from pathlib import Path

from hitsend.errors import StoreDown

SPARE_BYTES = 256 << 20
"""To be left for everyone's words while a file is taken in."""
NUM_COPIES = 4
"""The file, what is unpacked or read from it, and what is stored of that: written twice."""
MB = 1_000_000

FULL = (errno.ENOSPC, errno.EDQUOT)
BROKEN = (*FULL, errno.EIO, errno.EROFS)
"""What a file cannot be blamed for."""


def require_space(folder: Path, num_bytes: int) -> None:
    """For a file of so many bytes. Raises StoreDown."""
    free, needed = shutil.disk_usage(folder).free, NUM_COPIES * num_bytes + SPARE_BYTES
    if free < needed:
        raise StoreDown(
            f"There is not enough room on the disk for this file: {free // MB:,} MB are free, "
            f"{needed // MB:,} MB are needed. Make room on it, then try again."
        )


def sentence(error: OSError) -> str:
    if error.errno in FULL:
        return "The disk is full. Make room on it, then try again."
    return f"The file could not be kept here: {error.strerror}."
