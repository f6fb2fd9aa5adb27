"""Disk space and disk errors during an import."""

import errno
import shutil
from pathlib import Path

from hitsend.errors import StoreDown

SPARE_BYTES = 256 << 20
"""Disk space that an import leaves free for everything else."""
NUM_COPIES = 4
"""The upload, its unpacked or parsed copy, and the rows in the database and its write-ahead log."""
MB = 1_000_000

FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT)
DISK_ERRNOS = (*FULL_ERRNOS, errno.EIO, errno.EROFS)
"""Errors of the disk, not of the file."""


def require_import_space(folder: Path, num_bytes: int) -> None:
    """Raises StoreDown if the disk has no room to import a file of `num_bytes`."""
    free, needed = shutil.disk_usage(folder).free, NUM_COPIES * num_bytes + SPARE_BYTES
    if free < needed:
        raise StoreDown(
            f"There is not enough room on the disk for this file: {free // MB:,} MB are free, "
            f"{needed // MB:,} MB are needed. Make room on it, then try again."
        )


def describe_os_error(error: OSError) -> str:
    if error.errno in FULL_ERRNOS:
        return "The disk is full. Make room on it, then try again."
    return f"The file could not be kept here: {error.strerror}."
