"""One server to a data directory: a second one would close the turns the first is running."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hitsend.errors import StoreDown, Unavailable


@contextmanager
def alone_in(data_dir: Path) -> Iterator[None]:
    """Holds a lock that the system takes back when the process ends, however it ends."""
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
