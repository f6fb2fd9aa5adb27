"""The files that a program in Monty sees: those that the person attached, and those that it writes,
in memory alone. Imported when the first program runs: the library takes a while to load."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pydantic_monty import MemoryFile, MontyFileHandle, OSAccess, OsFunction

from hitsend.tools.code.kept_files import MAX_FILES, MAX_FILES_BYTES, make_file
from hitsend.tools.code.memory_files import FOLDER
from hitsend.tools.hosted_tool import ToolFile

READS = frozenset(
    ["Path.exists", "Path.is_file", "Path.is_dir", "Path.is_symlink", "Path.read_text"]
    + ["Path.read_bytes", "Path.iterdir", "Path.scan", "Path.stat", "Path.resolve"]
    + ["Path.absolute", "open"]
)
WRITES = frozenset(["Path.write_text", "Path.write_bytes", "Path.append_text", "Path.append_bytes"])


class MontyFiles(OSAccess):
    """There is room for a few files, in one folder."""

    def __init__(self, attached: Mapping[str, str]) -> None:
        super().__init__(
            [MemoryFile(f"{FOLDER}/{name}", text) for name, text in attached.items()]
            or [MemoryFile(f"{FOLDER}/.empty", "")],
            root_dir=FOLDER,
        )
        self._written: dict[PurePosixPath, int] = {}
        """Their sizes."""

    def dispatch(
        self,
        function_name: OsFunction,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        *,
        is_async: bool = False,
    ) -> Any:
        if function_name in WRITES:
            self._take_room(args[0], args[1], adds="append" in function_name)
        elif function_name == "open" and args[1][:1] in ("w", "x", "a"):
            self._take_room(args[0], "", adds="a" in args[1])
        elif function_name not in READS:
            raise NotImplementedError  # as if there were no files
        return super().dispatch(function_name, args, kwargs, is_async=is_async)

    def list_written(self) -> Iterator[ToolFile]:
        for path in self._written:
            if self.path_is_file(path):
                yield make_file(path.name, self.path_read_bytes(path))

    def _take_room(
        self, at: PurePosixPath | MontyFileHandle, data: str | bytes, *, adds: bool
    ) -> None:
        path = PurePosixPath(FOLDER) / (at.path if isinstance(at, MontyFileHandle) else at)
        if str(path.parent) != FOLDER:
            raise FileNotFoundError(f"No such file or directory: '{path}'")
        num_bytes = len(data.encode(errors="replace") if isinstance(data, str) else data)
        if adds and self.path_is_file(path):
            num_bytes += len(self.path_read_bytes(path))
        sizes = self._written | {path: num_bytes}
        if len(sizes) > MAX_FILES or sum(sizes.values()) > MAX_FILES_BYTES:
            raise OSError(
                f"A program may write {MAX_FILES} files, of {MAX_FILES_BYTES} bytes together."
            )
        self._written = sizes
