"""Locks the data directory: a second server in it would close the turns that the first one runs."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hitsend.errors import StoreDown, Unavailable


@contextmanager
def lock_data_dir(data_dir: Path) -> Iterator[None]:
    """Holds a file lock, which the system releases however the process ends."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (data_dir / "lock").open("w")
    except OSError as error:
        raise StoreDown(f"{data_dir} cannot be written to: {error.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(f"Another hitsend is serving from {data_dir}.") from None
        yield
