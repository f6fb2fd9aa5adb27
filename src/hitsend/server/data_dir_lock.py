"""Locks the data directory: a second server in it would close the turns that the first one runs.

The file is opened so that nobody who may write to the directory can have hitsend overwrite another
file (by a symbolic link) or wait for ever (by a pipe), and so that no child inherits the lock.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hitsend.errors import StoreDown, Unavailable

FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def lock_data_dir(data_dir: Path) -> Iterator[None]:
    """Holds a file lock, which the system releases however the process ends."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = _open_private_file(data_dir / "lock")
    except OSError as error:
        raise StoreDown(f"{data_dir} cannot be written to: {error.strerror}.") from None
    with os.fdopen(lock):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(f"Another hitsend is serving from {data_dir}.") from None
        yield


def _open_private_file(path: Path) -> int:
    if path.is_symlink():
        raise StoreDown(f"{path} is a symbolic link. Delete it: hitsend makes its own file.")
    file = os.open(path, FLAGS, 0o600)  # fails too if a link is made just now
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise StoreDown(f"{path} is not a file. Delete it: hitsend makes its own.")
    os.fchmod(file, 0o600)  # older versions let others read it
    return file
